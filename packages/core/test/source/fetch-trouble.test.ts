import { expect, test } from "vitest";
import { FetchTrouble } from "../../src/source/fetch-trouble.js";

const answering = { everHeard: true, silence: () => 0 };

test("FW-RUN-06 nothing is wrong and nothing is live before the first pull", () => {
  expect(new FetchTrouble(500).facts(1000, null)).toEqual({ live: false, silentMs: 0, doubtMs: 0, heartbeatMs: 500, refusal: null });
});

test("FW-RUN-33 a doubt lasts from the tick that saw it to the one that sees it answered", () => {
  const trouble = new FetchTrouble(500);
  const doubtAt = (now: number): number => trouble.facts(now, answering).doubtMs;
  trouble.tick(1000, false);
  trouble.tick(1100, false);
  expect(doubtAt(1500)).toBe(500);
  trouble.tick(1600, true);
  expect(doubtAt(9000)).toBe(0);
  trouble.tick(9100, false);
  expect(doubtAt(9200)).toBe(100);
});

test("FW-RUN-06 a refusal is told while it is repeated, and forgotten when it is not", () => {
  const trouble = new FetchTrouble(500);
  const refusalAt = (now: number): string | null => trouble.facts(now, answering).refusal;
  trouble.refused("MaxWaiting", 1000);
  expect(refusalAt(3400)).toBe("MaxWaiting");
  trouble.refused("MaxWaiting", 3000);
  expect(refusalAt(5000)).toBe("MaxWaiting");
  expect(refusalAt(5500)).toBeNull();
});

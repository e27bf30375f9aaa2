import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Breaker } from "../../src/runner/breaker.js";

const policy = { mode: "exponential", baseMs: 100, maxMs: 1000, multiplier: 2, jitter: "none" } as const;

describe("the breaker", () => {
  test("FW-RUN-19 opens at an outage, probes with back-off, and closes at a success", () => {
    const breaker = new Breaker(policy, () => 0);
    expect(breaker.state).toBe("closed");
    expect(breaker.trip(1000)).toBe(true);
    expect([breaker.state, breaker.openedAt, breaker.probeAt]).toEqual(["open", 1000, 1100]);
    expect(breaker.probe(1099)).toBe(false);
    expect(breaker.probe(1100)).toBe(true);
    expect(breaker.state).toBe("probing");
    expect(breaker.probe(5000)).toBe(false);
    expect(breaker.trip(1150)).toBe(false);
    expect([breaker.openedAt, breaker.probeAt]).toEqual([1000, 1350]);
    expect(breaker.probe(1350)).toBe(true);
    expect(breaker.succeed()).toBe(true);
    expect(breaker.state).toBe("closed");
    expect(breaker.succeed()).toBe(false);
  });

  test("FW-RUN-19 several writes that meet one outage open it once and do not move the probe", () => {
    const breaker = new Breaker(policy, () => 0);
    expect(breaker.trip(0)).toBe(true);
    expect(breaker.trip(50)).toBe(false);
    expect(breaker.trip(99)).toBe(false);
    expect(breaker.probeAt).toBe(100);
  });

  test("FW-RUN-19 a new outage begins with the first wait again", () => {
    const breaker = new Breaker(policy, () => 0);
    for (let at = 0; at < 8; at += 1) {
      breaker.trip(at * 10_000);
      breaker.probe(at * 10_000 + 5000);
    }
    breaker.trip(100_000);
    expect(breaker.probeAt).toBe(101_000);
    breaker.succeed();
    breaker.trip(200_000);
    expect([breaker.openedAt, breaker.probeAt]).toEqual([200_000, 200_100]);
  });

  test("FW-RUN-19 whatever happens, only one probe is out at a time and an open breaker always has a probe ahead", () => {
    const events = fc.array(fc.tuple(fc.constantFrom("trip", "probe", "succeed"), fc.integer({ min: 0, max: 2000 })), { maxLength: 60 });
    fc.assert(
      fc.property(events, (steps) => {
        const breaker = new Breaker(policy, () => 0);
        let now = 0;
        let probing = false;
        for (const [event, wait] of steps) {
          now += wait;
          if (event === "trip") {
            const wasClosed = breaker.state === "closed";
            expect(breaker.trip(now)).toBe(wasClosed);
            if (wasClosed) expect([breaker.openedAt, breaker.probeAt]).toEqual([now, now + policy.baseMs]);
            probing = false;
            expect(breaker.state).toBe("open");
          } else if (event === "probe") {
            const due = breaker.state === "open" && now >= breaker.probeAt;
            expect(breaker.probe(now)).toBe(due);
            probing ||= due;
          } else {
            breaker.succeed();
            probing = false;
            expect(breaker.state).toBe("closed");
          }
          expect(breaker.state === "probing").toBe(probing);
          if (breaker.state === "open") expect(breaker.probeAt - now).toBeLessThanOrEqual(policy.maxMs);
        }
      }),
    );
  });
});

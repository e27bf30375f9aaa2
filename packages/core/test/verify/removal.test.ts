import { describe, expect, test } from "vitest";
import type { StreamLimits } from "../../src/source/stream-limits.js";
import { removalReason } from "../../src/verify/removal.js";

const unlimited: StreamLimits = {
  retention: "workqueue",
  firstSequence: 50,
  lastSequence: 100,
  ageMs: 1_000_000,
  maximumAgeMs: 0,
  maximumMessages: -1,
  maximumBytes: -1,
  maximumPerSubject: -1,
  refusesNew: false,
  refusesNewPerSubject: false,
  messageTtl: false,
  rollup: false,
};

describe("removalReason", () => {
  test.each<[string, number, Partial<StreamLimits>, string | null]>([
    ["no limits: only an acknowledgement can have removed it", 10, {}, null],
    ["interest is as strict", 10, { retention: "interest" }, null],
    ["a stream of limits removes by itself or by hand", 10, { retention: "limits" }, "removed from the stream"],
    ["age, at the front", 10, { maximumAgeMs: 1000 }, "max_age"],
    ["age, behind a message that is still there", 60, { maximumAgeMs: 1000 }, null],
    ["age, of a stream that is younger", 10, { maximumAgeMs: 2_000_000 }, null],
    ["count", 10, { maximumMessages: 90 }, "max_msgs"],
    ["count, of which not enough came since", 10, { maximumMessages: 91 }, null],
    ["count, in a stream that refuses new messages", 10, { maximumMessages: 5, refusesNew: true }, null],
    ["bytes", 10, { maximumBytes: 5 }, "max_bytes"],
    ["bytes, behind a message that is still there", 60, { maximumBytes: 5 }, null],
    ["per subject, anywhere", 60, { maximumPerSubject: 40 }, "max_msgs_per_subject"],
    ["per subject, of which not enough came since", 60, { maximumPerSubject: 41 }, null],
    ["per subject, refusing", 60, { maximumPerSubject: 4, refusesNewPerSubject: true }, null],
    ["a message's own time", 60, { messageTtl: true }, "message TTL"],
    ["a rollup", 60, { rollup: true }, "rollup"],
  ])("FW-CLI-07 %s", (_name, sequence, limits, reason) => {
    expect(removalReason(sequence, { ...unlimited, ...limits })).toBe(reason);
  });
});

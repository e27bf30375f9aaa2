import { describe, expect, test } from "vitest";
import { type Evidence, type Fate, fateOf } from "../../src/verify/fate.js";
import { SequenceMarks } from "../../src/verify/sequence-marks.js";

const consumer = { floor: 10, delivered: 20, ackPending: 3 };

function evidence(retention: "limits" | "workqueue", wholeStream = true): Evidence {
  const limits = { ageMs: 1, maximumAgeMs: 0, maximumMessages: 0, maximumBytes: 0, maximumPerSubject: 0 };
  const rules = { refusesNew: false, refusesNewPerSubject: false, messageTtl: false, rollup: false };
  return {
    consumer,
    wholeStream,
    destinationAbsent: false,
    limits: { retention, firstSequence: 1, lastSequence: 30, ...limits, ...rules },
  };
}

type Seen = "present" | "gone" | "went away";

describe("fateOf", () => {
  test.each<[Seen, number, "limits" | "workqueue", Fate]>([
    ["present", 10, "limits", "missing"],
    ["present", 11, "limits", "undecided"],
    ["present", 20, "limits", "undecided"],
    ["present", 21, "limits", "pending"],
    ["gone", 5, "limits", "purged"],
    ["gone", 15, "limits", "purged"],
    ["gone", 25, "limits", "purged"],
    ["went away", 5, "limits", "purged"],
    ["went away", 15, "limits", "undecided"],
    ["present", 10, "workqueue", "missing"],
    ["present", 11, "workqueue", "undecided"],
    ["present", 21, "workqueue", "pending"],
    ["gone", 5, "workqueue", "missing"],
    ["gone", 15, "workqueue", "missing"],
    ["went away", 5, "workqueue", "missing"],
    ["went away", 15, "workqueue", "undecided"],
    ["went away", 25, "workqueue", "pending"],
  ])("FW-CLI-07 %s, sequence %i, %s: %s", (seen, sequence, retention, fate) => {
    const marks = new SequenceMarks(1, 30);
    if (seen !== "gone") marks.addPresent(sequence);
    if (seen === "went away") marks.setAbsent(sequence, true);
    expect(fateOf(sequence, marks, evidence(retention))).toBe(fate);
    // With the destination gone all that is acknowledged is missing, whatever became of it in the stream.
    const absent = { ...evidence(retention, false), destinationAbsent: true };
    const beyond = seen === "gone" ? "foreign" : fate;
    expect(fateOf(sequence, marks, absent)).toBe(sequence <= consumer.floor ? "missing" : beyond);
  });

  test("FW-CLI-07 what is gone from a stream that others use too is of nobody knows whom", () => {
    const marks = new SequenceMarks(1, 30);
    expect(fateOf(5, marks, evidence("workqueue", false))).toBe("foreign");
    marks.addPresent(5);
    expect(fateOf(5, marks, evidence("workqueue", false))).toBe("missing");
  });
});

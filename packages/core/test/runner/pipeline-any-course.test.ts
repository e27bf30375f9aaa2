import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PipelineRun, type Scenario } from "../fakes/pipeline-run.js";
import type { Fate, PlannedWrite } from "../fakes/scripted-destination.js";

vi.mock("../../src/source/pause.js", () => ({
  pause: (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
}));

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const fates = fc.constantFrom<Fate>(
  "stored",
  "stored",
  "stored",
  "temporary",
  "permanent",
  "unknown, applied",
  "unknown, not applied",
  "unavailable",
  "credentials",
  "not attempted",
);

const writes: fc.Arbitrary<PlannedWrite[]> = fc.array(
  fc.record({
    ms: fc.constantFrom(0, 1, 20, 300, 1500, 6000),
    deaf: fc.boolean(),
    end: fc.constantFrom(
      "outcomes",
      "outcomes",
      "outcomes",
      "void",
      "temporary",
      "permanent",
      "unknown",
      "unavailable",
      "configuration",
      "wrong length",
      "garbage",
    ),
    fates: fc.array(fates, { minLength: 1, maxLength: 5 }),
  }),
  { maxLength: 15, size: "max" },
);

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  ordering: fc.constantFrom("none", "per_key", "strict"),
  safety: fc.constantFrom("safe", "unsafe"),
  deadLetters: fc.boolean(),
  onPoison: fc.constantFrom("dead_letter_and_continue", "park_key", "stop"),
  onUnknown: fc.constantFrom("redeliver", "dead_letter", "hold"),
  temporaryAction: fc.constantFrom("nak", "leave_unacked"),
  maxRetries: fc.integer({ min: 0, max: 3 }),
  maxDeliver: fc.constantFrom(null, null, 2, 4),
  mode: fc.constantFrom("plain", "batch_confirmed", "confirmed"),
  slots: fc.integer({ min: 1, max: 3 }),
  batchSize: fc.integer({ min: 1, max: 6 }),
  wholeLane: fc.boolean(),
  writes,
  letters: fc.array(fc.boolean(), { maxLength: 6 }),
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom(
        "publish",
        "publish",
        "publish",
        "publish",
        "pass",
        "pass",
        "hurry",
        "disconnect",
        "reconnect",
        "resume",
        "kill",
      ),
      key: fc.constantFrom("a", "b", "c"),
      ms: fc.constantFrom(1, 50, 400, 1100),
    }),
    { maxLength: 40, size: "max" },
  ),
});

describe("any course of things", () => {
  test("FW-RUN-22 FW-RUN-13 only what is stored or dead-lettered is acked, orders are kept, and in the end everything is settled", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const run = new PipelineRun(scenario);
        try {
          await run.play();
          expect(run.broken).toEqual([]);
          const rounds = await run.recover();
          expect(run.broken).toEqual([]);
          expect(rounds).not.toBeNull();
        } finally {
          run.dispose();
        }
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});

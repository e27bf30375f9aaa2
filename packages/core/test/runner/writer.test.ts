import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WriteOutcome } from "../../src/connector/sink.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import {
  ConfigurationError,
  CredentialsError,
  DeadLetterError,
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  SerializationError,
  SinkContractError,
  TemporarySinkError,
  UnknownOutcomeError,
} from "../../src/error/errors.js";
import { isSafeToRepeat, type WriteResult, writeBatch } from "../../src/runner/writer.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { envelopeOf } from "../fakes/entries.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";
import { type Answer, SafetySink, ScriptedSink, sequencesOf, writeContext } from "../fakes/scripted-sink.js";

function envelopes(count: number): Envelope[] {
  return Array.from({ length: count }, (_, index) => envelopeOf({ sequence: index + 1 }));
}

function write(answer: Answer, count: number, safety: "safe" | "unsafe" = "safe"): Promise<WriteResult> {
  return writeBatch(new SafetySink(answer, safety), envelopes(count), writeContext(), silentTelemetry);
}

function outcomesOf(result: WriteResult): readonly WriteOutcome[] {
  if (result.kind !== "outcomes") throw new Error(`not outcomes but ${result.kind}`);
  return result.outcomes;
}

describe("what a sink resolves with", () => {
  test("FW-ERR-02 nothing means that every message is durable", async () => {
    expect(await write(() => undefined, 3)).toEqual({ kind: "stored" });
  });

  test("FW-ERR-02 an array gives one outcome per message, in order", async () => {
    const error = new TemporarySinkError("x");
    expect(await write(() => [null, error, null], 3)).toEqual({ kind: "outcomes", outcomes: [null, error, null] });
  });

  test.each([
    ["too few", () => [null, null]],
    ["too many", () => [null, null, null, null]],
    ["none", () => []],
    ["an undefined entry", () => [null, undefined, null]],
    ["a hole", () => Object.assign(new Array<null>(3), { 0: null, 2: null })],
    ["true for stored", () => [true, null, null]],
    ["a plain error", () => [new Error("x"), null, null]],
    ["an error of the core's own", () => [new DeadLetterError("x"), null, null]],
    ["a contract error as entry", () => [new SinkContractError("x"), null, null]],
    ["a look-alike", () => [{ code: "temporary", name: "TemporarySinkError" }, null, null]],
    ["null", () => null],
    ["true", () => true],
    ["a count", () => 3],
    ["an object", () => ({ outcomes: [null, null, null] })],
    ["a typed array", () => new Uint8Array(3)],
    ["a text of the right length", () => "abc"],
  ])("FW-ERR-02 %s is a contract error and acknowledges nothing", async (_name, answer) => {
    const result = await write(answer, 3);
    expect(result).toMatchObject({ kind: "fault", error: { name: "SinkContractError", code: "sink_contract" } });
  });

  test("FW-ERR-01 a configuration error for one message is passed on: it pauses", async () => {
    const error = new ConfigurationError("x");
    expect(outcomesOf(await write(() => [null, error], 2))).toEqual([null, error]);
  });
});

describe("what a sink throws", () => {
  test.each([
    ["TemporarySinkError", new TemporarySinkError("x")],
    ["DestinationUnavailableError", new DestinationUnavailableError("x")],
    ["CredentialsError", new CredentialsError("x")],
    ["UnknownOutcomeError", new UnknownOutcomeError("x")],
    ["NotAttemptedError", new NotAttemptedError("x")],
  ])("FW-ERR-02 %s applies to the whole batch", async (_name, error) => {
    expect(
      outcomesOf(
        await write(() => {
          throw error;
        }, 3),
      ),
    ).toEqual([error, error, error]);
  });

  test.each([
    ["a plain error", new Error("x")],
    ["a text", "boom"],
    ["undefined", undefined],
    ["a dead letter error", new DeadLetterError("x")],
  ])("FW-ERR-01 %s is temporary with the code unexpected, its cause kept", async (_name, thrown) => {
    const outcomes = outcomesOf(
      await write(() => {
        throw thrown;
      }, 2),
    );
    expect(outcomes).toHaveLength(2);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ name: "TemporarySinkError", code: "unexpected" });
    expect(outcomes[0]?.cause).toBe(thrown);
  });

  test.each([
    ["ConfigurationError", new ConfigurationError("x")],
    ["SinkContractError", new SinkContractError("x")],
  ])("FW-ERR-01 %s is a fault of the pipeline, not of the messages", async (_name, error) => {
    const result = await write(() => {
      throw error;
    }, 3);
    expect(result).toEqual({ kind: "fault", error });
  });

  test("FW-ERR-02 a sink that throws before it returns a promise is no exception", async () => {
    const sink = new ScriptedSink(() => undefined);
    sink.writeBatch = () => {
      throw new TemporarySinkError("x");
    };
    expect(outcomesOf(await writeBatch(sink, envelopes(2), writeContext(), silentTelemetry))).toHaveLength(2);
  });
});

/** Throws a permanent error for any batch with one of these sequences in it, and stores every other batch. */
function poisonedBy(poison: ReadonlySet<number>, stored: number[] = []): Answer {
  return (messages) => {
    const sequences = sequencesOf(messages);
    if (sequences.some((sequence) => poison.has(sequence))) throw new PermanentSinkError("a row is bad");
    stored.push(...sequences);
    return undefined;
  };
}

describe("a permanent error for a whole batch", () => {
  test("FW-ERR-03 FW-ERR-04 is not believed: only messages that fail alone bear it, every other one is stored", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 40 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 }),
        async (count, chosen) => {
          const poison = new Set(chosen.filter((sequence) => sequence <= count));
          const stored: number[] = [];
          const result = await write(poisonedBy(poison, stored), count);
          const outcomes = result.kind === "stored" ? envelopes(count).map(() => null) : outcomesOf(result);
          expect(outcomes).toHaveLength(count);
          for (const [index, outcome] of outcomes.entries()) {
            if (poison.has(index + 1)) expect(outcome).toMatchObject({ name: "PermanentSinkError" });
            else expect(outcome).toBeNull();
          }
          expect(stored.sort((a, b) => a - b)).toEqual(envelopes(count).flatMap((_, index) => (poison.has(index + 1) ? [] : [index + 1])));
        },
      ),
    );
  });

  test("FW-ERR-03 one message among a thousand costs some twenty more calls, not a thousand", async () => {
    const sink = new SafetySink(poisonedBy(new Set([371])), "safe");
    const outcomes = outcomesOf(await writeBatch(sink, envelopes(1000), writeContext(), silentTelemetry));
    expect(outcomes.filter((outcome) => outcome !== null)).toHaveLength(1);
    expect(sink.batches.length).toBeLessThanOrEqual(21);
  });

  test("FW-ERR-03 a single message bears it at once, also to an unsafe sink", async () => {
    const error = new SerializationError("x");
    for (const safety of ["safe", "unsafe"] as const) {
      const sink = new SafetySink(() => {
        throw error;
      }, safety);
      expect(outcomesOf(await writeBatch(sink, envelopes(1), writeContext(), silentTelemetry))).toEqual([error]);
      expect(sink.batches).toEqual([[1]]);
    }
  });

  test.each([
    ["declares nothing", () => new ScriptedSink(poisonedBy(new Set([2])))],
    ["declares unsafe", () => new SafetySink(poisonedBy(new Set([2])), "unsafe")],
    [
      "fails to declare",
      () =>
        new SafetySink(poisonedBy(new Set([2])), () => {
          throw new Error("x");
        }),
    ],
  ])("FW-ERR-03 a sink that %s is not asked again for parts of the batch", async (_name, makeSink) => {
    const sink = makeSink();
    const result = await writeBatch(sink, envelopes(3), writeContext(), silentTelemetry);
    expect(result.kind).toBe("indivisible");
    expect(sink.batches).toEqual([[1, 2, 3]]);
  });

  test("FW-ERR-03 other errors of the halves are kept for their messages", async () => {
    const away = new DestinationUnavailableError("x");
    const outcomes = outcomesOf(
      await write((messages) => {
        if (messages.length > 2) throw new PermanentSinkError("x");
        if (sequencesOf(messages).includes(3)) throw away;
        return undefined;
      }, 4),
    );
    expect(outcomes).toEqual([null, null, away, away]);
  });

  test("FW-ERR-01 a fault while a batch is split ends the splitting", async () => {
    const error = new ConfigurationError("x");
    const result = await write((messages) => {
      if (messages.length > 1) throw new PermanentSinkError("x");
      throw error;
    }, 4);
    expect(result).toEqual({ kind: "fault", error });
  });

  test("FW-RUN-29 after an abort the rest of a split batch is not attempted", async () => {
    const abort = new AbortController();
    const sink = new SafetySink((messages) => {
      if (messages.length > 1) throw new PermanentSinkError("x");
      abort.abort();
      return undefined;
    }, "safe");
    const outcomes = outcomesOf(await writeBatch(sink, envelopes(4), writeContext({ signal: abort.signal }), silentTelemetry));
    expect(outcomes.map((outcome) => outcome?.name ?? null)).toEqual([null, "NotAttemptedError", "NotAttemptedError", "NotAttemptedError"]);
  });

  test("FW-ERR-03 splits are counted", async () => {
    const telemetry = new RecordingTelemetry();
    await writeBatch(new SafetySink(poisonedBy(new Set([1])), "safe"), envelopes(4), writeContext(), telemetry);
    expect(telemetry.counted("batch_splits_total")).toBe(2);
  });
});

describe("order while a batch is split", () => {
  const laneOf = (sequence: number): number => sequence % 2;

  /** Writes an ordered batch of two lanes; the whole of it is refused, then single messages answer by script. */
  async function ordered(
    answers: ReadonlyMap<number, Error>,
    onPoison: "dead_letter_and_continue" | "park_key" | "stop" = "dead_letter_and_continue",
  ) {
    const stored: number[] = [];
    const sink = new SafetySink((messages, context) => {
      expect(context.lanes).toEqual(sequencesOf(messages).map(laneOf));
      if (messages.length > 1) throw new PermanentSinkError("x");
      const [sequence] = sequencesOf(messages) as [number];
      const error = answers.get(sequence);
      if (error !== undefined) throw error;
      stored.push(sequence);
      return undefined;
    }, "safe");
    const messages = envelopes(8);
    const context = writeContext({ ordered: true, lanes: sequencesOf(messages).map(laneOf), onPoison });
    const outcomes = outcomesOf(await writeBatch(sink, messages, context, silentTelemetry));
    return { stored, names: outcomes.map((outcome) => outcome?.name ?? null) };
  }

  test.each([
    ["temporary", new TemporarySinkError("x")],
    ["unknown", new UnknownOutcomeError("x")],
    ["not attempted", new NotAttemptedError("x")],
    ["unexpected", new Error("x")],
  ])("FW-RUN-13 FW-RUN-35 after a failure that is %s nothing later of its lane is written, and other lanes go on", async (_name, error) => {
    const { stored, names } = await ordered(new Map([[3, error]]));
    expect(stored).toEqual([1, 2, 4, 6, 8]);
    expect([names[4], names[6]]).toEqual(["NotAttemptedError", "NotAttemptedError"]);
  });

  test("FW-RUN-36 a permanent failure lets its lane go on under dead_letter_and_continue only", async () => {
    const poison = new Map([[2, new PermanentSinkError("x")]]);
    expect((await ordered(poison)).stored).toEqual([1, 3, 4, 5, 6, 7, 8]);
    expect((await ordered(poison, "park_key")).stored).toEqual([1, 3, 5, 7]);
    expect((await ordered(poison, "stop")).stored).toEqual([1, 3, 5, 7]);
  });

  test("FW-RUN-13 whatever single messages answer, no message is stored after an earlier one of its lane that must come again", async () => {
    const errors = fc.constantFrom(new TemporarySinkError("x"), new UnknownOutcomeError("x"), new PermanentSinkError("x"));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), errors), { maxLength: 5 }), async (failures) => {
        const { stored, names } = await ordered(new Map(failures));
        for (const sequence of stored) {
          for (let earlier = laneOf(sequence) === 1 ? 1 : 2; earlier < sequence; earlier += 2) {
            expect([null, "PermanentSinkError"]).toContain(names[earlier - 1]);
          }
        }
      }),
    );
  });
});

describe("repeating a write", () => {
  test("FW-ERR-01 is safe only where the sink says so for these messages", () => {
    expect(isSafeToRepeat(new SafetySink(() => undefined, "safe"), envelopes(1))).toBe(true);
    expect(isSafeToRepeat(new SafetySink(() => undefined, "unsafe"), envelopes(1))).toBe(false);
    expect(isSafeToRepeat(new ScriptedSink(() => undefined), envelopes(1))).toBe(false);
  });
});

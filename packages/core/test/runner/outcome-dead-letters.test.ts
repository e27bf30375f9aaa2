import { describe, expect, test } from "vitest";
import { ConfigurationError, NotAttemptedError, PermanentSinkError, type SinkError, TemporarySinkError } from "../../src/error/errors.js";
import type { FlightEntry } from "../../src/runner/flight.js";
import { Acting } from "../fakes/acting.js";

const permanent = new PermanentSinkError("bad");
const temporary = new TemporarySinkError("later");
const notAttempted = new NotAttemptedError("no");

describe("dead letters", () => {
  test("FW-DLQ-01 FW-RUN-22 the original is acked only after the dead letter was acknowledged", async () => {
    const acting = new Acting();
    let publish: () => void = () => undefined;
    acting.letters.beforePublish = () =>
      new Promise((resolve) => {
        publish = resolve;
      });
    acting.apply(acting.batch(1), [permanent]);
    await acting.rest();
    expect([acting.letters.published.length, acting.sent, acting.here]).toEqual([1, [], ["1 writing"]]);
    publish();
    await acting.rest();
    expect([acting.sent, acting.here, acting.counters.deadLettered]).toEqual([["+ACK 1"], [], 1]);
  });

  test("FW-DLQ-01 FW-RUN-28 one that was not published before the process left settles nothing", async () => {
    const acting = new Acting();
    acting.letters.beforePublish = () => {
      acting.leaving.abort();
      throw new Error("closed");
    };
    acting.apply(acting.batch(1), [permanent]);
    await acting.rest();
    expect([acting.letters.published.length, acting.sent, acting.counters.deadLettered]).toEqual([1, [], 0]);
  });

  test("FW-RUN-26 TERM instead, when it is configured", async () => {
    const acting = new Acting({ settings: { terminateDeadLetters: true } });
    acting.apply(acting.batch(1), [permanent]);
    await acting.rest();
    expect(acting.sent).toEqual(["+TERM 1"]);
  });

  test("FW-RUN-33 nothing is settled when another epoch began while it was published", async () => {
    const acting = new Acting();
    acting.letters.beforePublish = () => void acting.flight.clear();
    acting.apply(acting.batch(1), [permanent]);
    await acting.rest();
    expect([acting.letters.published.length, acting.sent, acting.counters.deadLettered]).toEqual([1, [], 0]);
  });

  test("FW-RUN-13 the lane waits for the dead letter, not for the ack", async () => {
    const acting = new Acting({ policy: { ordered: true } });
    let publish: () => void = () => undefined;
    acting.letters.beforePublish = () =>
      new Promise((resolve) => {
        publish = resolve;
      });
    acting.ack.answer = () => new Promise(() => undefined);
    const batch = acting.batch(1);
    acting.arrive(2);
    acting.apply(batch, [permanent]);
    await acting.rest();
    expect(acting.takeable()).toEqual([]);
    publish();
    await acting.rest();
    expect(acting.takeable()).toEqual([2]);
  });

  test("FW-DLQ-05 one that is too large for the server is held, not lost and not tried for ever", async () => {
    const acting = new Acting();
    acting.letters.limit = 100;
    acting.apply(acting.batch(1), [permanent]);
    await acting.rest();
    expect([acting.sent, acting.here, acting.told]).toEqual([[], ["1 held"], ["held 1"]]);
  });

  test("FW-ERR-07 one that cannot be made holds its message, and the process lives", async () => {
    const acting = new Acting();
    const batch = acting.batch(1);
    const entry = batch[0] as FlightEntry;
    entry.envelope = Object.create(null, {
      idempotencyKey: {
        value: () => {
          throw new Error("broken");
        },
      },
    }) as FlightEntry["envelope"];
    acting.apply(batch, [permanent]);
    await acting.rest();
    expect([acting.sent, acting.here]).toEqual([[], ["1 held"]]);
  });
});

describe("with dead letters off", () => {
  test.each([
    ["hold", [], ["1 held"], ["held 1"]],
    ["stop", [], ["1 waiting"], ["pause poison (permanent) at sequence 1"]],
    ["discard", ["+ACK 1"], [], []],
  ] as const)("FW-DLQ-08 when_disabled %s", async (whenDisabled, sent, here, told) => {
    const acting = new Acting({ policy: { deadLetters: false, whenDisabled } });
    acting.apply(acting.batch(1), [permanent]);
    await acting.rest();
    expect([acting.sent, acting.here, acting.told]).toEqual([sent, here, told]);
    expect(acting.counters.discarded).toBe(whenDisabled === "discard" ? 1 : 0);
  });

  test("FW-RUN-20 FW-RUN-38 spent retries are held, and tried again after the longest back-off; a permanent one is not", () => {
    const acting = new Acting({ policy: { deadLetters: false, maxRetries: 0 } });
    const batch = acting.batch(1, 2);
    acting.apply(batch, [temporary, permanent]);
    expect(batch.map(({ heldReason, retryAt }) => [heldReason, retryAt])).toEqual([
      ["retry_exhausted", 61_000],
      ["permanent", 0],
    ]);
    expect([acting.flight.held, acting.flight.messages]).toEqual([2, 0]);
  });
});

describe("pauses", () => {
  test("FW-ERR-01 a configuration error pauses, keeps the message and dead-letters nothing", async () => {
    const acting = new Acting();
    acting.apply(acting.batch(1), [new ConfigurationError("x") as unknown as SinkError]);
    await acting.rest();
    expect([acting.told, acting.here, acting.sent, acting.letters.published]).toEqual([
      ["pause configuration (configuration_invalid) at sequence 1"],
      ["1 waiting"],
      [],
      [],
    ]);
  });

  test("FW-RUN-36 on_poison stop pauses with the message in its place", () => {
    const acting = new Acting({ policy: { ordered: true, onPoison: "stop" } });
    acting.apply(acting.batch(1, 2), [permanent, notAttempted]);
    expect([acting.told, acting.here, acting.waiting]).toEqual([
      ["pause poison (permanent) at sequence 1"],
      ["1 waiting", "2 waiting"],
      [1, 2],
    ]);
  });
});

describe("parking", () => {
  const parking = { ordered: true, onPoison: "park_key" } as const;

  test("FW-RUN-36 poison parks its key: what waits, what was not attempted and what arrives later; other keys go on", () => {
    const acting = new Acting({ policy: parking });
    const batch = acting.batch(1, 2);
    acting.arrive(3);
    acting.arrive({ sequence: 4, subject: "events.b" });
    acting.apply(batch, [permanent, notAttempted]);
    acting.arrive(5);
    expect(acting.here).toEqual(["1 held", "2 held", "3 held", "4 waiting", "5 held"]);
    expect(acting.takeable()).toEqual([4]);
    expect([acting.flight.messages, acting.sent, acting.letters.published]).toEqual([1, [], []]);
  });

  test("FW-RUN-36 FW-RUN-38 more than max_parked is an operator pause", () => {
    const acting = new Acting({ policy: parking, settings: { maxParked: 3 } });
    const batch = acting.batch(1);
    acting.apply(batch, [permanent]);
    for (const sequence of [2, 3]) acting.arrive(sequence);
    expect(acting.told).not.toContain("pause max_parked is reached");
    acting.arrive(4);
    expect(acting.told).toContain("pause max_parked is reached");
    expect(acting.flight.get(4)?.state).toBe("waiting");
    expect(acting.takeable()).toEqual([]);
  });

  test("FW-RUN-36 poison beyond max_parked stays where it is and pauses", () => {
    const acting = new Acting({ policy: parking, settings: { maxParked: 1 } });
    acting.apply(acting.batch(1), [permanent]);
    acting.apply(acting.batch({ sequence: 2, subject: "events.b" }), [permanent]);
    expect([acting.here, acting.told.at(-1)]).toEqual([["1 held", "2 waiting"], "pause max_parked is reached"]);
  });
});

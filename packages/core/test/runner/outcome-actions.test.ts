import { describe, expect, test, vi } from "vitest";
import type { WriteOutcome } from "../../src/connector/sink.js";
import {
  ConfigurationError,
  CredentialsError,
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  type SinkError,
  TemporarySinkError,
  UnknownOutcomeError,
} from "../../src/error/errors.js";
import type { BatcherSettings } from "../../src/runner/batcher.js";
import { newCounters } from "../../src/runner/counters.js";
import { DeadLetters } from "../../src/runner/dead-letter.js";
import { Flight, type FlightEntry } from "../../src/runner/flight.js";
import { FreeLanes, OrderedLanes } from "../../src/runner/lanes.js";
import { OutcomeActions } from "../../src/runner/outcome-actions.js";
import type { PipelineSettings } from "../../src/runner/pipeline-settings.js";
import { Settlement } from "../../src/runner/settle.js";
import type { VerdictPolicy } from "../../src/runner/verdict.js";
import { arrivalOf, type MessageFields } from "../fakes/entries.js";
import { FakeAckPort } from "../fakes/fake-ack-port.js";
import { FakeDeadLetterPort } from "../fakes/fake-dead-letter-port.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";
import { pipelineSettingsOf, verdictPolicy } from "../fakes/runner-settings.js";

const all: BatcherSettings = { batchSize: 100, batchMaxBytes: 1_000_000, lingerMs: 0 };

interface Options {
  readonly policy?: Partial<VerdictPolicy>;
  readonly settings?: Partial<PipelineSettings>;
}

/** Verdicts carried out over real tables and fakes of everything that reaches out; time stands at 1000 ms. */
class Acting {
  readonly flight = new Flight();
  readonly ack = new FakeAckPort();
  readonly letters = new FakeDeadLetterPort();
  readonly telemetry = new RecordingTelemetry();
  readonly counters = newCounters();
  readonly told: string[] = [];
  readonly lanes: FreeLanes | OrderedLanes;
  readonly actions: OutcomeActions;
  readonly settings: PipelineSettings;
  now = 1000;

  constructor({ policy = {}, settings = {} }: Options = {}) {
    const verdict = verdictPolicy(policy);
    this.settings = pipelineSettingsOf({ verdict, ordered: verdict.ordered, onPoison: verdict.onPoison, ...settings });
    this.lanes = verdict.ordered ? new OrderedLanes((entry) => entry.envelope?.subject ?? "", true) : new FreeLanes();
    const signal = new AbortController().signal;
    this.actions = new OutcomeActions(
      {
        flight: this.flight,
        lanes: this.lanes,
        settlement: new Settlement(this.ack, { mode: "batch_confirmed", confirmTimeoutMs: 100 }, this.telemetry, signal),
        deadLetters: verdict.deadLetters
          ? new DeadLetters(
              this.letters,
              { subject: "dlq", stream: null, maxInFlight: 4, backoff: this.settings.retry },
              this.telemetry,
              () => 0.5,
            )
          : null,
        deadLetterContent: { includePayload: true, includeHeaders: true, includeError: true },
        counters: this.counters,
        settings: this.settings,
        ackedFloor: null,
        sinkName: "orders",
        telemetry: this.telemetry,
        now: () => this.now,
        random: () => 0.5,
        signal,
      },
      {
        trip: (error) => this.told.push(`trip ${error.code}`),
        pause: (reason) => this.told.push(`pause ${reason}`),
        held: (entry) => this.told.push(`held ${entry.sequence}`),
        changed: () => undefined,
      },
    );
  }

  /** Admits messages and takes them out as one batch, as a write would. */
  batch(...messages: readonly (number | MessageFields)[]): FlightEntry[] {
    for (const message of messages) this.arrive(message);
    const batch = this.lanes.take(this.now, all);
    for (const entry of batch) entry.state = "writing";
    return batch;
  }

  arrive(message: number | MessageFields): FlightEntry {
    const fields = typeof message === "number" ? { sequence: message } : message;
    const entry = this.flight.admit(arrivalOf(fields, { at: this.now }));
    this.actions.arrive(entry);
    return entry;
  }

  apply(batch: readonly FlightEntry[], outcomes: readonly WriteOutcome[], safe = false): void {
    this.actions.apply(batch, outcomes, safe);
  }

  /** Lets everything that was begun come to its end. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  }

  /** Verbs with the stream sequence they went to. */
  get sent(): string[] {
    return this.ack.sent.map(({ subject, verb }) => `${verb} ${subject.split(".")[5]}`);
  }

  get waiting(): unknown[] {
    return this.lanes.waiting().map(({ sequence }) => sequence);
  }

  /** Entries of the flight by sequence and state. */
  get here(): string[] {
    return [...this.flight.entries()].map(({ sequence, state }) => `${sequence} ${state}`);
  }

  takeable(): unknown[] {
    return this.lanes.take(this.now, all).map(({ sequence }) => sequence);
  }
}

const permanent = new PermanentSinkError("bad");
const temporary = new TemporarySinkError("later");
const unknown = new UnknownOutcomeError("perhaps");
const notAttempted = new NotAttemptedError("no");
const away = new DestinationUnavailableError("away");

describe("stored", () => {
  test("FW-RUN-22 what is durable is acked in one go, leaves the flight afterwards and forgets its failures", async () => {
    const acting = new Acting();
    const batch = acting.batch(1, 2, 3);
    acting.flight.fail(2);
    acting.apply(batch, [null, null, null]);
    expect(acting.here).toEqual(["1 settling", "2 settling", "3 settling"]);
    await acting.rest();
    expect(acting.sent).toEqual(["+ACK 1", "+ACK 2", "+ACK 3"]);
    expect(acting.ack.sent.map(({ confirmed }) => confirmed)).toEqual([false, false, true]);
    expect([acting.flight.size, acting.flight.failures(2), acting.counters.stored]).toEqual([0, 0, 3]);
  });

  test("FW-RUN-27 an ack that stays unconfirmed leaves the message to redelivery and gives its room back", async () => {
    const acting = new Acting();
    acting.ack.answer = () => "timed_out";
    acting.actions.applyStored(acting.batch(1));
    await acting.rest();
    expect(acting.sent).toEqual(["+ACK 1", "+ACK 1", "+ACK 1"]);
    expect(acting.flight.size).toBe(0);
  });

  test("FW-RUN-33 outcomes of another epoch settle nothing", async () => {
    const acting = new Acting();
    const batch = acting.batch(1, 2);
    acting.flight.clear();
    acting.actions.applyStored(batch);
    acting.apply(batch, [null, permanent]);
    acting.actions.applyIndivisible(batch);
    await acting.rest();
    expect([acting.sent, acting.letters.published, acting.here, acting.waiting]).toEqual([[], [], [], []]);
  });

  test("FW-RUN-33 a sequence that came again in a new epoch is not settled by the outcome of the old", async () => {
    const acting = new Acting();
    const batch = acting.batch(1);
    acting.flight.clear();
    acting.lanes.clear();
    acting.arrive(1);
    acting.actions.applyStored(batch);
    await acting.rest();
    expect([acting.sent, acting.here, acting.waiting]).toEqual([[], ["1 waiting"], [1]]);
  });

  test("FW-RUN-13 the lane is free when its message is durable; the ack is not awaited", () => {
    const acting = new Acting({ policy: { ordered: true } });
    acting.ack.answer = () => new Promise(() => undefined);
    acting.actions.applyStored(acting.batch(1));
    acting.arrive(2);
    expect(acting.takeable()).toEqual([2]);
  });

  test("FW-RUN-16 work past its deadline counts as late", () => {
    const acting = new Acting();
    const batch = acting.batch(1, 2);
    acting.now = 40_000;
    acting.actions.applyStored(batch);
    expect(acting.telemetry.counted("late_acks_total")).toBe(2);
  });
});

describe("neighbours", () => {
  test("FW-ERR-04 one message's outcome is its own: the others of the batch are acked, retried or dead-lettered by theirs", async () => {
    const acting = new Acting();
    acting.apply(acting.batch(1, 2, 3, 4, 5), [null, permanent, temporary, notAttempted, null]);
    await acting.rest();
    expect([...acting.sent].sort()).toEqual(["+ACK 1", "+ACK 2", "+ACK 5", '-NAK {"delay":1000000000} 3']);
    expect(acting.letters.published).toHaveLength(1);
    expect(acting.here).toEqual(["4 waiting"]);
    expect([acting.flight.failures(3), acting.flight.failures(4)]).toEqual([1, 0]);
  });
});

describe("retries", () => {
  test("FW-RUN-18 FW-RUN-37 a nak carries the delay, ends the lease and keeps the failure count for the redelivery", () => {
    const acting = new Acting();
    acting.apply(acting.batch(1), [temporary]);
    expect(acting.sent).toEqual(['-NAK {"delay":1000000000} 1']);
    expect([acting.here, acting.flight.failures(1), acting.counters.retried]).toEqual([[], 1, 1]);
    acting.apply(acting.batch({ sequence: 1, count: 2 }), [temporary]);
    expect(acting.flight.failures(1)).toBe(2);
  });

  test("FW-RUN-18 with BackOff what is sent makes up for what the server adds", () => {
    const acting = new Acting({
      settings: { deadlines: { ackWaitMs: 1000, backoffMs: [1000, 5000], maxDeliver: null, maxAckPending: null } },
    });
    acting.apply(acting.batch({ sequence: 1, count: 2 }), [temporary]);
    expect(acting.sent).toEqual(['-NAK {"delay":1000000000} 1']);
  });

  test("FW-RUN-18 leave_unacked sends nothing: the lease runs out", () => {
    const acting = new Acting({ policy: { temporaryAction: "leave_unacked" } });
    acting.apply(acting.batch(1), [temporary]);
    expect([acting.sent, acting.here]).toEqual([[], []]);
  });

  test("FW-RUN-13 an ordered message is retried in place, under its lease, and its lane waits", () => {
    const acting = new Acting({ policy: { ordered: true } });
    acting.apply(acting.batch(1, 2), [temporary, notAttempted]);
    expect([acting.sent, acting.here]).toEqual([[], ["1 waiting", "2 waiting"]]);
    expect(acting.takeable()).toEqual([]);
    acting.now += 1000;
    expect(acting.takeable()).toEqual([1, 2]);
  });

  test("FW-RUN-20 spent: dead-lettered as RetryExhaustedError with the code of the last failure, then acked", async () => {
    const acting = new Acting({ policy: { maxRetries: 0 } });
    acting.apply(acting.batch(1), [new TemporarySinkError("deadlock", { destinationCode: "40P01" })]);
    await acting.rest();
    const [published] = acting.letters.published;
    expect(JSON.parse(published?.body ?? "{}")).toMatchObject({
      error_code: "retry_exhausted",
      error_type: "RetryExhaustedError",
      destination_code: "40P01",
    });
    expect([acting.sent, acting.flight.failures(1)]).toEqual([["+ACK 1"], 0]);
  });

  test("FW-ERR-01 a sink that attempted none of a batch is not asked again at once", () => {
    for (const ordered of [false, true]) {
      const acting = new Acting({ policy: { ordered } });
      acting.apply(acting.batch(1, 2), [notAttempted, notAttempted]);
      expect([acting.here, acting.flight.failures(1)]).toEqual([["1 waiting", "2 waiting"], 0]);
      expect(acting.takeable()).toEqual([]);
      acting.now += 1000;
      expect(acting.takeable()).toEqual([1, 2]);
    }
  });

  test("FW-RUN-35 what was not attempted beside something that was goes again at once", () => {
    const acting = new Acting();
    acting.apply(acting.batch(1, 2), [null, notAttempted]);
    expect(acting.takeable()).toEqual([2]);
  });
});

describe("unknown outcomes", () => {
  test("FW-ERR-01 are left to redelivery when they may not be repeated, and counted", () => {
    const acting = new Acting();
    acting.apply(acting.batch(1), [unknown]);
    expect(acting.sent).toEqual(['-NAK {"delay":1000000000} 1']);
    expect(acting.telemetry.counted("possible_duplicates_total")).toBe(1);
  });

  test("FW-RUN-13 in an ordered lane the later ones are given back as well, and the lane waits for the first", () => {
    const acting = new Acting({ policy: { ordered: true } });
    const batch = acting.batch(1);
    acting.arrive(2);
    acting.arrive(3);
    acting.apply(batch, [unknown]);
    expect(acting.sent).toEqual(["-NAK 2", "-NAK 3", '-NAK {"delay":1000000000} 1']);
    expect(acting.here).toEqual([]);
    acting.arrive({ sequence: 3, count: 2 });
    acting.arrive({ sequence: 2, count: 2 });
    expect(acting.takeable()).toEqual([]);
    acting.arrive({ sequence: 1, count: 2 });
    expect(acting.takeable()).toEqual([1, 2, 3]);
  });

  test("FW-RUN-18 a later one on its last delivery is not given back, nothing would bring it again: it waits here", () => {
    const acting = new Acting({ policy: { ordered: true, maxDeliver: 3 } });
    const batch = acting.batch(1);
    acting.arrive({ sequence: 2, count: 3 });
    acting.arrive({ sequence: 3, count: 1 });
    acting.apply(batch, [unknown]);
    expect(acting.sent).toEqual(["-NAK 3", '-NAK {"delay":1000000000} 1']);
    expect(acting.here).toEqual(["2 waiting"]);
    expect(acting.takeable()).toEqual([]);
    acting.arrive({ sequence: 1, count: 2 });
    expect(acting.takeable()).toEqual([1, 2]);
  });

  test("FW-RUN-35 one whose batch mates were not attempted keeps them behind it", () => {
    const acting = new Acting({ policy: { ordered: true } });
    acting.apply(acting.batch(1, 2), [unknown, notAttempted]);
    expect(acting.here).toEqual(["2 waiting"]);
    expect(acting.takeable()).toEqual([]);
    acting.arrive({ sequence: 1, count: 2 });
    expect(acting.takeable()).toEqual([1, 2]);
  });

  test("FW-ERR-01 that may be repeated are retried as any other failure", () => {
    const acting = new Acting({ policy: { ordered: true } });
    acting.apply(acting.batch(1), [unknown], true);
    expect([acting.sent, acting.here]).toEqual([[], ["1 waiting"]]);
  });
});

describe("outages", () => {
  test.each([
    [away, "trip destination_unavailable"],
    [new CredentialsError("refused"), "trip credentials_refused"],
  ])("FW-RUN-19 %s: held in place under its lease, no budget, the breaker is told", (error, told) => {
    const acting = new Acting();
    acting.apply(acting.batch({ sequence: 1, count: 99 }), [error]);
    expect([acting.sent, acting.here, acting.flight.failures(1), acting.told]).toEqual([[], ["1 waiting"], 0, [told]]);
  });
});

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
    ["stop", [], ["1 waiting"], ["pause poison (permanent)"]],
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
    expect([acting.flight.held, acting.flight.messages, acting.counters.heldTotal]).toEqual([2, 0, 2]);
  });
});

describe("pauses", () => {
  test("FW-ERR-01 a configuration error pauses, keeps the message and dead-letters nothing", async () => {
    const acting = new Acting();
    acting.apply(acting.batch(1), [new ConfigurationError("x") as unknown as SinkError]);
    await acting.rest();
    expect([acting.told, acting.here, acting.sent, acting.letters.published]).toEqual([
      ["pause configuration (configuration_invalid)"],
      ["1 waiting"],
      [],
      [],
    ]);
  });

  test("FW-RUN-36 on_poison stop pauses with the message in its place", () => {
    const acting = new Acting({ policy: { ordered: true, onPoison: "stop" } });
    acting.apply(acting.batch(1, 2), [permanent, notAttempted]);
    expect([acting.told, acting.here, acting.waiting]).toEqual([["pause poison (permanent)"], ["1 waiting", "2 waiting"], [1, 2]]);
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

describe("a batch that an unsafe sink refused as a whole", () => {
  test("FW-ERR-03 is given back without budget, each to be written alone when it comes again", () => {
    const acting = new Acting();
    acting.actions.applyIndivisible(acting.batch(1, 2));
    expect(acting.sent).toEqual(['-NAK {"delay":1000000} 1', '-NAK {"delay":1000000} 2']);
    expect([acting.here, acting.flight.failures(1)]).toEqual([[], 0]);
    expect([1, 2, 3].map((sequence) => acting.actions.isSingle(sequence))).toEqual([true, true, false]);
  });

  test("FW-ERR-03 FW-RUN-13 an ordered one stays, and its messages are written one by one", () => {
    const acting = new Acting({ policy: { ordered: true } });
    acting.actions.applyIndivisible(acting.batch(1, 2, { sequence: 3, subject: "events.b" }));
    expect([acting.sent, acting.here]).toEqual([[], ["1 waiting", "2 waiting", "3 waiting"]]);
    expect(acting.takeable()).toHaveLength(1);
  });

  test("FW-RUN-18 a last delivery and one that cannot be given back stay", () => {
    const acting = new Acting({ policy: { maxDeliver: 5 } });
    acting.actions.applyIndivisible(acting.batch({ sequence: 1, count: 5 }, 2));
    expect(acting.here).toEqual(["1 waiting"]);
    acting.ack.connected = false;
    acting.actions.applyIndivisible(acting.batch(3));
    expect(acting.here).toEqual(["1 waiting", "3 waiting"]);
  });

  test("FW-ERR-03 the mark ends with the ack", async () => {
    const acting = new Acting();
    acting.actions.applyIndivisible(acting.batch(1));
    acting.actions.applyStored(acting.batch({ sequence: 1, count: 2 }));
    await acting.rest();
    expect(acting.actions.isSingle(1)).toBe(false);
  });
});

describe("giving back at stop", () => {
  test("FW-RUN-28 without delay, and never a last delivery", () => {
    const acting = new Acting({ policy: { maxDeliver: 3 } });
    for (const message of [{ sequence: 1 }, { sequence: 2, count: 3 }, { sequence: 3, count: 2 }]) acting.arrive(message);
    acting.actions.giveBack(acting.lanes.waiting());
    expect([acting.sent, acting.here, acting.waiting]).toEqual([["-NAK 1", "-NAK 3"], ["2 waiting"], [2]]);
  });

  test("FW-RUN-38 held ones too", () => {
    const acting = new Acting({ policy: { deadLetters: false } });
    acting.apply(acting.batch(1), [permanent]);
    acting.actions.giveBack([...acting.flight.entries()]);
    expect([acting.sent, acting.flight.held]).toEqual([["-NAK 1"], 0]);
  });
});

describe("a write that does not end", () => {
  test("FW-RUN-16 its messages are left to redelivery without a word, and nothing is acked for them when it ends after all", async () => {
    const acting = new Acting();
    const batch = acting.batch(1, 2);
    acting.actions.abandon(batch);
    expect([acting.sent, acting.here]).toEqual([[], []]);
    acting.actions.applyStored(batch);
    await acting.rest();
    expect(acting.sent).toEqual([]);
  });

  test("FW-RUN-13 its lane waits for them and for its end; later ones are given back", () => {
    const acting = new Acting({ policy: { ordered: true } });
    const batch = acting.batch(1);
    acting.arrive(2);
    acting.actions.abandon(batch);
    expect([acting.sent, acting.here]).toEqual([["-NAK 2"], []]);
    for (const sequence of [1, 2]) acting.arrive({ sequence, count: 2 });
    expect(acting.takeable()).toEqual([]);
    acting.actions.endAbandoned(batch);
    expect(acting.takeable()).toEqual([1, 2]);
  });
});

describe("waiting for real time", () => {
  test("FW-RUN-27 nothing here keeps a timer", () => {
    vi.useFakeTimers();
    const acting = new Acting();
    acting.apply(acting.batch(1, 2), [null, temporary]);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

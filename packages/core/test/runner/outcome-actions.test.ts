import { describe, expect, test } from "vitest";
import {
  CredentialsError,
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  SerializationError,
  SizePolicyViolationError,
  TemporarySinkError,
  UnknownOutcomeError,
} from "../../src/error/errors.js";
import { Acting } from "../fakes/acting.js";

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

describe("counting failures", () => {
  test("FW-ERR-01 an unknown outcome is counted, also where it may be repeated at once", () => {
    const acting = new Acting();
    acting.apply(acting.batch(1), [unknown], true);
    acting.apply(acting.batch(2), [unknown], false);
    expect(acting.telemetry.counted("unknown_outcomes_total")).toBe(2);
    expect(acting.telemetry.counted("sink_write_errors_total unknown_outcome")).toBe(2);
  });

  test("FW-POL-04 what a gate rejected is counted by its reason and not as an error of the sink", () => {
    const acting = new Acting();
    const [entry] = acting.batch(1);
    const rejection = new SizePolicyViolationError("too large", { code: "payload_too_large" });
    if (entry === undefined) throw new Error("no entry");
    entry.rejection = rejection;
    acting.apply([entry], [rejection]);
    expect(acting.telemetry.counted("size_policy_messages_rejected_total payload_too_large")).toBe(1);
    expect(acting.telemetry.counted("sink_write_errors_total")).toBe(0);
    acting.apply(acting.batch(2), [permanent]);
    expect(acting.telemetry.counted("sink_write_errors_total permanent")).toBe(1);
    acting.apply(acting.batch(3), [notAttempted]);
    expect([acting.telemetry.counted("sink_write_errors_total"), acting.telemetry.counted("messages_failed_total")]).toEqual([1, 2]);
  });

  test.each([
    [new TemporarySinkError("broken", { code: "gate_failed" }), "size_policy_evaluation_errors_total"],
    [new SerializationError("unreadable", { code: "headers_malformed" }), "message_normalization_errors_total headers_malformed"],
  ])("FW-RUN-10 another rejection is counted by its gate", (rejection, counter) => {
    const acting = new Acting();
    const [entry] = acting.batch(1);
    if (entry === undefined) throw new Error("no entry");
    entry.rejection = rejection;
    acting.apply([entry], [rejection]);
    expect([acting.telemetry.counted(counter), acting.telemetry.counted("sink_write_errors_total")]).toEqual([1, 0]);
  });
});

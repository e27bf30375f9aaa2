import type { StoredMsg } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { createEnvelopeOrigin } from "../../src/envelope/envelope-origin.js";
import { type SinkError, SizePolicyViolationError } from "../../src/error/errors.js";
import { Flight, type FlightEntry } from "../../src/runner/flight.js";
import { FreeLanes } from "../../src/runner/free-lanes.js";
import { HeldMessages } from "../../src/runner/held-messages.js";
import { OrderedLanes } from "../../src/runner/ordered-lanes.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { admitted } from "../fakes/entries.js";
import { messageTime } from "../fakes/positions.js";

const origin = createEnvelopeOrigin({
  stream: "EVENTS",
  consumer: "sink",
  domain: null,
  account: null,
  streamCreatedAt: "2026-01-01T00:00:00Z",
});
const all = { batchSize: 100, batchMaxBytes: 1_000_000, lingerMs: 0 };

/** Held messages over a stream whose answers the test gives, in any order. */
class Holding {
  readonly flight = new Flight();
  readonly lanes: FreeLanes | OrderedLanes;
  readonly held: HeldMessages;
  readonly #asked = new Map<number, (stored: StoredMsg | null) => void>();
  /** What the gates say, and whom they were asked about. */
  rejection: SinkError | null = null;
  readonly judged: number[] = [];
  now = 1000;

  constructor(ordered = false) {
    this.lanes = ordered ? new OrderedLanes(() => "", true) : new FreeLanes();
    this.held = new HeldMessages({
      flight: this.flight,
      lanes: this.lanes,
      source: { stored: { read: (sequence) => new Promise((resolve) => this.#asked.set(Number(sequence), resolve)) } },
      telemetry: silentTelemetry,
      now: () => this.now,
      nowNs: () => 1n,
      origin: () => origin,
      ordered,
      retryMs: 500,
      judge: (envelope) => {
        this.judged.push(Number(envelope.streamSequence));
        return this.rejection;
      },
      changed: () => undefined,
    });
  }

  /** A message that was written in vain and is held. */
  hold(sequence: number, reason: "retry_exhausted" | "permanent" | "parked"): FlightEntry {
    const entry = admitted(this.flight, { sequence });
    this.lanes.add(entry);
    if (reason === "parked") this.lanes.remove(entry);
    else this.lanes.take(this.now, all);
    this.flight.hold(entry, reason);
    if (reason === "retry_exhausted") entry.retryAt = this.now + 500;
    return entry;
  }

  get asked(): number[] {
    return [...this.#asked.keys()];
  }

  async answer(sequence: number, there = true, timestamp = messageTime): Promise<void> {
    const stored = { subject: "events.a", seq: sequence, timestamp, data: new Uint8Array([7]), header: undefined } as unknown as StoredMsg;
    this.#asked.get(sequence)?.(there ? stored : null);
    this.#asked.delete(sequence);
    await new Promise(setImmediate);
  }

  takeable(): unknown[] {
    return this.lanes.take(this.now, all).map(({ sequence }) => sequence);
  }
}

describe("the body of a held message", () => {
  test("FW-RUN-38 is dropped once the stream has shown that it has it, and read again when the message is tried", async () => {
    const holding = new Holding();
    const entry = holding.hold(1, "retry_exhausted");
    void holding.held.drop(entry);
    expect(entry.envelope).not.toBeNull();
    await holding.answer(1);
    expect(entry.envelope).toBeNull();
    holding.now += 500;
    holding.held.tick(holding.now);
    await holding.answer(1);
    expect([entry.state, entry.envelope?.data, entry.envelope?.streamSequence]).toEqual(["waiting", new Uint8Array([7]), 1n]);
    expect(holding.takeable()).toEqual([1]);
  });

  test("FW-RUN-38 stays when the stream does not have it", async () => {
    const holding = new Holding();
    const entry = holding.hold(1, "permanent");
    void holding.held.drop(entry);
    await holding.answer(1, false);
    expect(entry.envelope).not.toBeNull();
  });

  test("FW-RUN-38 stays when the message was brought back before the answer", async () => {
    const holding = new Holding();
    const entry = holding.hold(1, "permanent");
    void holding.held.drop(entry);
    holding.held.resume();
    await holding.answer(1);
    expect([entry.state, entry.envelope === null]).toEqual(["waiting", false]);
  });
});

describe("trying again", () => {
  test("FW-RUN-38 a retry-exhausted message when its time has come, a permanent or parked one only after a repair", () => {
    const holding = new Holding();
    const entries = [holding.hold(1, "retry_exhausted"), holding.hold(2, "permanent"), holding.hold(3, "parked")];
    holding.held.tick(1499);
    expect(entries.map(({ state }) => state)).toEqual(["held", "held", "held"]);
    holding.now = 1500;
    holding.held.tick(1500);
    expect(entries.map(({ state }) => state)).toEqual(["waiting", "held", "held"]);
    holding.held.resume();
    expect(entries.map(({ state }) => state)).toEqual(["waiting", "waiting", "waiting"]);
    expect([holding.flight.held, holding.flight.messages]).toEqual([0, 3]);
  });

  test("FW-RUN-38 when its body cannot be read it stays held and is tried again later, after a repair too", async () => {
    for (const reason of ["retry_exhausted", "permanent"] as const) {
      const holding = new Holding();
      const entry = holding.hold(1, reason);
      entry.envelope = null;
      holding.now += 500;
      if (reason === "permanent") holding.held.resume();
      holding.held.tick(holding.now);
      await holding.answer(1, false);
      expect(entry.state).toBe("held");
      holding.now += 499;
      holding.held.tick(holding.now);
      expect(holding.asked).toEqual([]);
      holding.now += 1;
      holding.held.tick(holding.now);
      await holding.answer(1);
      expect(entry.state).toBe("waiting");
    }
  });

  test("FW-RUN-33 another message at its sequence is not taken for it: the stream may be another one by now", async () => {
    const holding = new Holding();
    const entry = holding.hold(1, "permanent");
    entry.envelope = null;
    holding.held.resume();
    await holding.answer(1, true, "2026-02-02T00:00:00Z");
    expect([entry.state, entry.envelope]).toEqual(["held", null]);
  });

  test("FW-RUN-38 it is asked for once, however many ticks come before the answer", async () => {
    const holding = new Holding();
    holding.hold(1, "retry_exhausted").envelope = null;
    holding.now += 500;
    for (let tick = 0; tick < 3; tick += 1) holding.held.tick(holding.now);
    await holding.answer(1);
    expect([holding.asked, holding.takeable()]).toEqual([[], [1]]);
  });

  test("FW-RUN-33 one that left the flight while its body was read does not come back", async () => {
    const holding = new Holding();
    const entry = holding.hold(1, "permanent");
    entry.envelope = null;
    holding.held.resume();
    holding.flight.clear();
    holding.lanes.clear();
    await holding.answer(1);
    expect([entry.state, holding.takeable(), holding.flight.messages, holding.flight.held]).toEqual(["gone", [], 0, 0]);
  });
});

describe("FW-RUN-10 the gates", () => {
  test("judge a message whose rejection was lifted to attempt it, and no other one again", () => {
    const holding = new Holding();
    const [unjudged, judged] = [holding.hold(1, "retry_exhausted"), holding.hold(2, "retry_exhausted")];
    unjudged.unjudged = true;
    holding.rejection = new SizePolicyViolationError("17 bytes", { code: "payload_too_large" });
    holding.now += 500;
    holding.held.tick(holding.now);
    expect(holding.judged).toEqual([1]);
    expect([unjudged.rejection?.code, judged.rejection, unjudged.unjudged]).toEqual(["payload_too_large", null, false]);
  });
});

describe("in an ordered lane", () => {
  test("FW-RUN-13 messages come back in their order, whatever the order of the answers, and nothing later goes before", async () => {
    const holding = new Holding(true);
    const poison = holding.hold(1, "permanent");
    const parked = [2, 3].map((sequence) => holding.hold(sequence, "parked"));
    for (const entry of [poison, ...parked]) entry.envelope = null;
    holding.held.resume();
    holding.lanes.add(admitted(holding.flight, { sequence: 4 }));
    await holding.answer(3);
    expect(holding.takeable()).toEqual([]);
    await holding.answer(1);
    expect(holding.takeable()).toEqual([1]);
    holding.lanes.settleWrite(poison);
    expect(holding.takeable()).toEqual([]);
    await holding.answer(2);
    expect(holding.takeable()).toEqual([2, 3, 4]);
  });
});

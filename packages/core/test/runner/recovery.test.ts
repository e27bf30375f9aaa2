import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Envelope } from "../../src/envelope/envelope.js";
import { DestinationUnavailableError, PermanentSinkError, SinksError } from "../../src/error/errors.js";
import { Flight, type FlightEntry } from "../../src/runner/flight.js";
import { Recovery, type RecoveryParts } from "../../src/runner/recovery.js";
import { type Stranded, writeMark } from "../../src/runner/stranded-mark.js";
import { type StrandedAtStart, StrandedMessages } from "../../src/runner/stranded-messages.js";
import type { MarkResult } from "../../src/source/consumer-mark.js";
import type { SequenceRanges } from "../../src/source/sequence-ranges.js";
import type { StoredMessage } from "../../src/source/stored-messages.js";
import { entryOf } from "../fakes/entries.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

/** A recovery over a stream of the sequences given; what it admits and acknowledges is kept. */
class Recovering {
  readonly admitted: { readonly sequence: number; readonly rejected: string | null }[] = [];
  readonly acknowledged: number[] = [];
  readonly flight = new Flight();
  readonly telemetry = new RecordingTelemetry();
  /** Times that the mark was asked for. */
  updates = 0;
  readonly leaving = new AbortController();
  readonly recovery: Recovery;
  readonly stranded: StrandedMessages;
  /** The mark on the consumer, and whether the server keeps it. */
  mark: string | null = null;
  answer: "kept" | "refused" | "silent" = "kept";
  now = 0;
  /** Time that passes until the server keeps the mark, or does not. */
  silenceMs = 0;
  /** Sequences whose first reading is not answered. */
  readonly silent = new Set<number>();
  /** Resolves reads by hand when set. */
  gate: Promise<void> | null = null;

  constructor(stream: readonly number[], has: ((sequence: number) => boolean) | null, overrides: Partial<RecoveryParts> = {}) {
    const sink = { start: async () => undefined, stop: async () => undefined, writeBatch: async () => undefined };
    const lookup = async (messages: readonly Envelope[]) => messages.map(({ streamSequence }) => has?.(Number(streamSequence)) === true);
    this.stranded = new StrandedMessages(
      { update: async (change) => this.#update(change) },
      this.telemetry,
      () => this.now,
      this.leaving.signal,
    );
    this.recovery = new Recovery({
      flight: this.flight,
      stranded: this.stranded,
      now: () => this.now,
      stored: {
        find: async (sequence) => {
          await this.gate;
          if (this.silent.delete(Number(sequence))) throw new Error("timeout");
          return stream.includes(Number(sequence)) ? ({ seq: Number(sequence), subject: "events.a" } as StoredMessage) : null;
        },
      },
      sink: () => (has === null ? sink : { ...sink, lookup }),
      telemetry: this.telemetry,
      entryOf: ({ seq }) => entryOf({ sequence: seq }),
      admit: (entry: FlightEntry) => {
        this.flight.admit(entry);
        this.admitted.push({ sequence: Number(entry.sequence), rejected: entry.rejection?.code ?? null });
      },
      acknowledge: async (entries) => {
        this.acknowledged.push(...entries.map(({ sequence }) => Number(sequence)));
        return true;
      },
      wanted: () => true,
      ordered: false,
      room: () => 1000,
      signal: this.leaving.signal,
      ...overrides,
    });
  }

  #update(change: (text: string | null) => string | null): MarkResult {
    this.updates += 1;
    const text = change(this.mark);
    this.now += this.silenceMs;
    if (this.answer === "silent") throw new SinksError("no answer", { code: "connection_failed" });
    if (this.answer === "kept") this.mark = text;
    return this.answer;
  }

  /** Waits until nothing is looked at any more. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < 50 && this.recovery.pending; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(this.recovery.pending).toBe(false);
  }
}

const possiblyUpTo = (last: number): StrandedAtStart => ({
  text: null,
  marked: { certain: [], possible: last === 0 ? [] : [[1, last]] },
  unmarked: [],
  refused: false,
});
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

describe("FW-RUN-21 the range of a start", () => {
  test("is looked at only when no delivery is out any more", async () => {
    const { recovery, admitted } = new Recovering(upTo(3), () => false);
    recovery.begin(possiblyUpTo(3));
    recovery.see(1, null);
    await new Promise((resolve) => setImmediate(resolve));
    expect([recovery.pending, admitted]).toEqual([true, []]);
  });

  test("of any messages, those that came, left the stream or are stored are left alone; each other one is dead-lettered once", async () => {
    const facts = fc.record({ came: fc.boolean(), there: fc.boolean(), stored: fc.boolean(), advised: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(facts, { maxLength: 200 }), async (messages) => {
        const of = (name: "came" | "there" | "stored" | "advised") => upTo(messages.length).filter((each) => messages[each - 1]?.[name]);
        const run = new Recovering(of("there"), (sequence) => messages[sequence - 1]?.stored === true);
        run.recovery.begin(possiblyUpTo(messages.length));
        for (const sequence of of("came")) run.recovery.came(sequence);
        for (const sequence of of("advised")) run.recovery.reached(sequence);
        run.recovery.see(0, null);
        await run.rest();
        const looked = upTo(messages.length).filter((each) => {
          const fact = messages[each - 1];
          return fact?.there === true && (!fact.came || fact.advised);
        });
        expect(run.acknowledged.toSorted((a, b) => a - b)).toEqual(looked.filter((each) => messages[each - 1]?.stored));
        expect(run.admitted.toSorted((a, b) => a.sequence - b.sequence)).toEqual(
          looked.filter((each) => !messages[each - 1]?.stored).map((sequence) => ({ sequence, rejected: "max_deliver_exceeded" })),
        );
      }),
      { numRuns: 60 },
    );
  });

  test("is written once more to a sink that cannot look up, but never against an order", async () => {
    for (const ordered of [false, true]) {
      const run = new Recovering([2], null, { ordered });
      run.recovery.begin(possiblyUpTo(3));
      run.recovery.see(0, null);
      await run.rest();
      expect(run.admitted).toEqual([{ sequence: 2, rejected: ordered ? "max_deliver_exceeded" : null }]);
    }
  });

  test("does not outgrow the room of the flight, and goes on when there is some", async () => {
    let room = 0;
    const run = new Recovering(upTo(2), () => false, { room: () => room });
    run.flight.admit(entryOf({ sequence: 99 }));
    run.recovery.begin(possiblyUpTo(2));
    run.recovery.see(0, null);
    await new Promise((resolve) => setImmediate(resolve));
    expect(run.admitted).toEqual([]);
    room = 10;
    await expect.poll(() => run.admitted.length).toBe(2);
  });

  test("FW-RUN-33 of a stream that is another one meanwhile is forgotten", async () => {
    const run = new Recovering(upTo(2), () => false);
    let open: () => void = () => undefined;
    run.gate = new Promise((resolve) => {
      open = resolve;
    });
    run.recovery.begin(possiblyUpTo(2));
    run.recovery.see(0, null);
    run.recovery.reset(false);
    open();
    await run.rest();
    expect([run.admitted, run.acknowledged]).toEqual([[], []]);
  });

  test("a server that does not answer is asked again: no answer is not an answer", async () => {
    const run = new Recovering(upTo(3), () => false);
    run.silent.add(2);
    run.recovery.begin(possiblyUpTo(3));
    run.recovery.see(0, null);
    await expect.poll(() => run.admitted.length, { timeout: 5000 }).toBe(3);
  });

  test("FW-RUN-19 a destination that is away is asked again before anything is called lost, in an order as well", async () => {
    let away = true;
    const run = new Recovering(
      upTo(2),
      () => {
        if (away) throw new DestinationUnavailableError("connection refused");
        return true;
      },
      { ordered: true },
    );
    run.recovery.begin(possiblyUpTo(2));
    run.recovery.see(0, null);
    await new Promise((resolve) => setImmediate(resolve));
    expect([run.admitted, run.acknowledged, run.recovery.pending]).toEqual([[], [], true]);
    away = false;
    await expect.poll(() => run.acknowledged, { timeout: 5000 }).toEqual([1, 2]);
    expect(run.admitted).toEqual([]);
  });

  test("without a delivery limit is none", () => {
    const { recovery } = new Recovering(upTo(2), null);
    recovery.begin(possiblyUpTo(0));
    expect(recovery.pending).toBe(false);
  });
});

describe("FW-RUN-21 the server's advisory", () => {
  test("leaves a message alone that is still held here", async () => {
    const run = new Recovering([1], () => false);
    run.flight.admit(entryOf({ sequence: 1 }));
    run.recovery.reached(1);
    await run.rest();
    expect(run.admitted).toEqual([]);
  });

  test("that comes while a range is looked at is not forgotten", async () => {
    const run = new Recovering(upTo(5), () => false);
    let open: () => void = () => undefined;
    run.gate = new Promise((resolve) => {
      open = resolve;
    });
    run.recovery.begin(possiblyUpTo(2));
    run.recovery.see(0, null);
    run.recovery.reached(5);
    open();
    await run.rest();
    expect(run.admitted.map(({ sequence }) => sequence)).toEqual([1, 2, 5]);
  });

  test("a lookup that can never answer dead-letters it all the same", async () => {
    const run = new Recovering([1], () => {
      throw new PermanentSinkError("no such column");
    });
    run.recovery.reached(1);
    await run.rest();
    expect(run.admitted).toEqual([{ sequence: 1, rejected: "max_deliver_exceeded" }]);
  });
});

describe("FW-RUN-21 the mark on the consumer", () => {
  const begun = (marked: Partial<Stranded>, unmarked: SequenceRanges = []): StrandedAtStart => ({
    text: writeMark({ certain: [], possible: [], ...marked }),
    marked: { certain: [], possible: [], ...marked },
    unmarked,
    refused: false,
  });

  test("names what the server gave up before any of it is taken in, all of one moment in one mark", async () => {
    const run = new Recovering(upTo(9), () => false);
    run.answer = "silent";
    for (const sequence of [3, 4, 5, 9]) run.recovery.reached(sequence);
    await expect.poll(() => run.updates).toBe(1);
    expect([run.admitted, run.recovery.pending]).toEqual([[], true]);
    run.answer = "kept";
    await expect.poll(() => run.admitted.length, { timeout: 5000 }).toBe(4);
    expect(run.mark).toBe("3-5,9");
  });

  test("is shortened by what is settled, and gone with the last of it", async () => {
    const run = new Recovering(upTo(9), () => false);
    for (const sequence of [3, 4, 5]) run.recovery.reached(sequence);
    await expect.poll(() => run.admitted.length).toBe(3);
    run.recovery.settled([entryOf({ sequence: 4 })]);
    run.recovery.see(0, run.mark);
    await expect.poll(() => run.mark).toBe("3,5");
    run.recovery.settled([entryOf({ sequence: 3 }), entryOf({ sequence: 5 })]);
    await run.recovery.close();
    expect(run.mark).toBeNull();
  });

  test("of an earlier process is taken in at start, what is certain at once, the rest when no delivery is out", async () => {
    const run = new Recovering(upTo(9), null);
    run.recovery.begin(begun({ certain: [[2, 3]], possible: [[7, 8]] }));
    run.recovery.see(5, "2-3,~7-8");
    await expect.poll(() => run.admitted.length).toBe(2);
    run.recovery.came(7);
    run.recovery.see(0, "2-3,~7-8");
    await run.rest();
    expect(run.admitted).toEqual([
      { sequence: 2, rejected: "max_deliver_exceeded" },
      { sequence: 3, rejected: "max_deliver_exceeded" },
      { sequence: 8, rejected: null },
    ]);
    await expect.poll(() => run.mark).toBe("2-3,~8");
  });

  test("keeps one that is still held here, too: if its outcome never comes, it is looked at again later", async () => {
    const run = new Recovering([1], () => false);
    const entry = entryOf({ sequence: 1 });
    run.flight.admit(entry);
    run.recovery.reached(1);
    await expect.poll(() => run.mark).toBe("1");
    await run.rest();
    run.flight.release(entry);
    run.recovery.see(0, "1");
    await run.rest();
    expect(run.admitted).toEqual([]);
    run.now += 30_000;
    run.recovery.see(0, "1");
    await run.rest();
    expect(run.admitted).toEqual([{ sequence: 1, rejected: "max_deliver_exceeded" }]);
  });

  test("that a login may not write is said once, and nothing waits for it", async () => {
    const run = new Recovering(upTo(2), () => false);
    run.answer = "refused";
    run.recovery.reached(1);
    await expect.poll(() => run.admitted.length).toBe(1);
    run.recovery.reached(2);
    await expect.poll(() => run.admitted.length).toBe(2);
    expect(run.telemetry.events.filter(({ level }) => level === "error").map(({ event }) => event)).toEqual([
      "messages out of deliveries cannot be marked on the consumer; a crash now may leave them behind",
    ]);
  });

  const unmarked = "messages out of deliveries cannot be marked on the consumer; a crash now may leave them behind";
  const notYet = "the mark of stranded messages is not kept yet";

  test("that a server does not keep for long is said with the reason, no longer waited for, and asked for again", async () => {
    const run = new Recovering(upTo(2), () => false);
    run.answer = "silent";
    run.silenceMs = 30_000;
    run.recovery.reached(1);
    await expect.poll(() => run.admitted.length).toBe(1);
    const told = run.telemetry.events.filter(({ event }) => event === notYet || event === unmarked);
    expect(told.map(({ level, event, fields }) => [level, event, fields["reason"]])).toEqual([
      ["warn", notYet, "connection_failed"],
      ["error", unmarked, undefined],
    ]);
    run.answer = "kept";
    run.recovery.see(0, null);
    await expect.poll(() => run.mark).toBe("1");
  });

  test.each([false, true])("that is not kept as the process leaves is said, unless it names too many only: %s", async (shortens) => {
    const run = new Recovering(upTo(2), () => false);
    if (shortens) {
      run.recovery.reached(1);
      await expect.poll(() => run.mark).toBe("1");
      run.recovery.settled([entryOf({ sequence: 1 })]);
    }
    run.answer = "silent";
    run.leaving.abort();
    if (!shortens) run.recovery.reached(1);
    await run.recovery.close();
    const told = run.telemetry.events.map(({ event }) => event).filter((event) => event === notYet || event === unmarked);
    expect(told).toEqual(shortens ? [notYet] : [notYet, unmarked]);
  });

  test("keeps what another runner wrote, and gets back what another runner wrote over", async () => {
    const run = new Recovering(upTo(9), () => false);
    run.mark = "8,~2-3";
    run.recovery.reached(5);
    await expect.poll(() => run.mark).toBe("~2-3,5,8");
    run.mark = "8";
    run.recovery.see(0, run.mark);
    await expect.poll(() => run.mark).toBe("5,8");
    run.recovery.settled([entryOf({ sequence: 5 })]);
    await run.recovery.close();
    expect(run.mark).toBe("8");
  });

  test("FW-RUN-05 follows a stream to another consumer, and is forgotten with the stream", async () => {
    const run = new Recovering(upTo(9), () => false);
    run.recovery.reached(5);
    await expect.poll(() => run.admitted.length).toBe(1);
    run.mark = null;
    run.recovery.reset(true);
    run.recovery.see(0, null);
    await expect.poll(() => run.mark).toBe("5");
    run.mark = null;
    run.recovery.reset(false);
    run.recovery.see(0, null);
    await run.recovery.close();
    expect([run.mark, run.recovery.pending]).toEqual([null, false]);
  });

  test("of a start beside another client says nothing of what that one hears by itself", async () => {
    const run = new Recovering(upTo(9), () => false);
    run.recovery.begin(begun({}, [[1, 4]]));
    run.recovery.see(2, null);
    await run.recovery.close();
    expect([run.mark, run.updates]).toEqual([null, 0]);
    run.recovery.see(0, null);
    await expect.poll(() => run.admitted.length).toBe(4);
  });
});

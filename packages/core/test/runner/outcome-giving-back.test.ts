import { describe, expect, test, vi } from "vitest";
import { PermanentSinkError, TemporarySinkError } from "../../src/error/errors.js";
import { Acting } from "../fakes/acting.js";

const permanent = new PermanentSinkError("bad");
const temporary = new TemporarySinkError("later");

describe("a batch that an unsafe sink refused as a whole", () => {
  test("FW-ERR-03 is given back without budget, each to be written alone when it comes again", () => {
    const acting = new Acting();
    acting.actions.applyIndivisible(acting.batch(1, 2));
    expect(acting.sent).toEqual(['-NAK {"delay":1000000} 1', '-NAK {"delay":1000000} 2']);
    expect([acting.here, acting.flight.failures(1)]).toEqual([[], 0]);
    expect([1, 2, 3].map((sequence) => acting.flight.isAlone(sequence))).toEqual([true, true, false]);
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
    expect(acting.flight.isAlone(1)).toBe(false);
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

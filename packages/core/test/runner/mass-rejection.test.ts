import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PermanentSinkError } from "../../src/error/errors.js";
import { MassRejection } from "../../src/runner/mass-rejection.js";
import { Acting } from "../fakes/acting.js";

const permanent = new PermanentSinkError("bad");

function reject(rejection: MassRejection, count: number): void {
  for (let index = 0; index < count; index += 1) rejection.rejected();
}

describe("the share of dead letters", () => {
  test("FW-DLQ-09 fewer than 100 messages are no mass, a hundred are", () => {
    const rejection = new MassRejection(0.5, () => 0);
    reject(rejection, 99);
    expect(rejection.reason()).toBeNull();
    rejection.rejected();
    expect(rejection.reason()).toMatch(/^mass_rejection: 100 of the last 100 messages /);
  });

  test("FW-DLQ-09 the ratio itself is bearable, one more is not", () => {
    const rejection = new MassRejection(0.25, () => 0);
    rejection.stored(300);
    reject(rejection, 100);
    expect(rejection.reason()).toBeNull();
    rejection.rejected();
    expect(rejection.reason()).toMatch(/^mass_rejection: 101 of the last 401 messages /);
  });

  test("FW-DLQ-09 what is older than 1000 messages does not count in the first window, what is older than 60 s not in the second", () => {
    let now = 0;
    const rejection = new MassRejection(0.1, () => now);
    reject(rejection, 150);
    now = 59_999;
    rejection.stored(1000);
    expect(rejection.reason()).toMatch(/^mass_rejection: 150 of the 1150 messages of the last 60 s /);
    now = 60_000;
    expect(rejection.reason()).toBeNull();
  });

  test("FW-DLQ-09 slow streams are judged by their last 1000 messages, however long these took", () => {
    let now = 0;
    const rejection = new MassRejection(0.9, () => now);
    for (let index = 0; index < 99; index += 1, now += 10_000) rejection.rejected();
    expect(rejection.reason()).toBeNull();
    rejection.rejected();
    expect(rejection.reason()).toMatch(/last 100 messages/);
  });

  test("FW-DLQ-09 a reset begins anew", () => {
    const rejection = new MassRejection(0.5, () => 0);
    reject(rejection, 500);
    rejection.reset();
    expect(rejection.reason()).toBeNull();
    reject(rejection, 99);
    expect(rejection.reason()).toBeNull();
    rejection.rejected();
    expect(rejection.reason()).not.toBeNull();
  });

  test("FW-DLQ-09 in any course both windows say what a full record of it says", () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 20_000 }),
      stored: fc.integer({ min: 0, max: 400 }),
      rejected: fc.integer({ min: 0, max: 200 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.double({ min: 0.01, max: 1, noNaN: true }), (steps, ratio) => {
        let now = 0;
        const rejection = new MassRejection(ratio, () => now);
        const record: { at: number; rejected: boolean }[] = [];
        const over = (part: { rejected: boolean }[]): boolean =>
          part.length >= 100 && part.filter(({ rejected }) => rejected).length / part.length > ratio;
        for (const { wait, stored, rejected } of steps) {
          now += wait;
          const at = Math.floor(now / 1000);
          rejection.stored(stored);
          record.push(...Array.from({ length: stored }, () => ({ at, rejected: false })));
          reject(rejection, rejected);
          record.push(...Array.from({ length: rejected }, () => ({ at, rejected: true })));
          const expected = over(record.slice(-1000)) || over(record.filter((message) => message.at > at - 60));
          expect(rejection.reason() !== null).toBe(expected);
        }
      }),
    );
  });
});

describe("a mass rejection", () => {
  test("FW-DLQ-09 is judged by the whole batch: rejected ones that come before the stored ones are not alone", async () => {
    const acting = new Acting({ maxRatio: 0.5 });
    const batch = acting.batch(...Array.from({ length: 100 }, (_, index) => index + 1), 101, 102, 103);
    acting.apply(
      batch.slice(0, 50),
      batch.slice(0, 50).map(() => permanent),
    );
    acting.apply(
      batch.slice(50),
      batch.slice(50).map(() => null),
    );
    await acting.rest();
    expect([acting.letters.published.length, acting.told, acting.counters.deadLettered]).toEqual([50, [], 50]);
  });

  test("FW-DLQ-09 pauses, keeps every message of the batch and publishes none", async () => {
    const acting = new Acting({ maxRatio: 0.5 });
    const batch = acting.batch(...Array.from({ length: 100 }, (_, index) => index + 1));
    acting.apply(
      batch,
      batch.map((_, index) => (index < 60 ? permanent : null)),
    );
    await acting.rest();
    expect(acting.letters.published).toEqual([]);
    expect(acting.told[0]).toMatch(/^pause mass_rejection: 60 of the last 100 messages /);
    expect(acting.here).toEqual(Array.from({ length: 60 }, (_, index) => `${index + 1} waiting`));
  });

  test("FW-DLQ-09 without a ratio nothing is judged", async () => {
    const acting = new Acting();
    const batch = acting.batch(...Array.from({ length: 100 }, (_, index) => index + 1));
    acting.apply(
      batch,
      batch.map(() => permanent),
    );
    await acting.rest();
    expect([acting.letters.published.length, acting.told]).toEqual([100, []]);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PullRoom, planPull } from "../../src/runner/pull-plan.js";

const room: PullRoom = {
  messages: 100,
  bytes: 100_000,
  openMessages: 0,
  openBytes: 0,
  batchSize: 20,
  batchMaxBytes: 5000,
  minimumBytes: 10_000,
  oversized: false,
};

describe("the next pull", () => {
  test.each([
    ["asks for a batch", {}, { messages: 20, bytes: 10_000 }],
    ["asks for the bytes of a batch where they are more than the least", { batchMaxBytes: 30_000 }, { messages: 20, bytes: 30_000 }],
    ["asks for no more bytes than there are", { batchMaxBytes: 30_000, bytes: 12_000 }, { messages: 20, bytes: 12_000 }],
    ["asks for the last few messages", { messages: 3 }, { messages: 3, bytes: 10_000 }],
    ["is not sent without room for a message", { messages: 0 }, null],
    ["is not sent when the flight is over its limit", { messages: -4 }, null],
    ["is not sent below the least bytes", { bytes: 9999 }, null],
    ["counts what open pulls may bring in messages", { messages: 20, openMessages: 20 }, null],
    ["counts what open pulls may bring in bytes", { openMessages: 20, openBytes: 95_000 }, null],
    ["runs one ahead of need", { openMessages: 20, openBytes: 10_000 }, { messages: 20, bytes: 10_000 }],
    ["runs no further ahead", { openMessages: 21, openBytes: 20_000 }, null],
    ["does not ask for a crumb while a pull is open", { messages: 29, openMessages: 20, openBytes: 10_000 }, null],
    ["asks for half of a batch", { messages: 30, openMessages: 20, openBytes: 10_000 }, { messages: 10, bytes: 10_000 }],
    ["asks for one oversized message without a byte limit", { oversized: true }, { messages: 1, bytes: null }],
    ["waits for open pulls before that", { oversized: true, openMessages: 20, openBytes: 10_000 }, { messages: 20, bytes: 10_000 }],
  ] as const)("FW-RUN-08 FW-RUN-34 %s", (_name, given, expected) => {
    expect(planPull({ ...room, ...given })).toEqual(expected);
  });

  const rooms: fc.Arbitrary<PullRoom> = fc.record({
    messages: fc.integer({ min: -10, max: 500 }),
    bytes: fc.integer({ min: -1000, max: 500_000 }),
    openMessages: fc.constant(0),
    openBytes: fc.constant(0),
    batchSize: fc.integer({ min: 1, max: 100 }),
    batchMaxBytes: fc.integer({ min: 1024, max: 100_000 }),
    minimumBytes: fc.integer({ min: 1, max: 50_000 }),
    oversized: fc.constant(false),
  });

  test("FW-RUN-08 asking until there is no more to ask ends, and open pulls never bring more than the room", () => {
    fc.assert(
      fc.property(rooms, (given) => {
        let openMessages = 0;
        let openBytes = 0;
        let pulls = 0;
        for (let plan = planPull(given); plan !== null; plan = planPull({ ...given, openMessages, openBytes })) {
          pulls += 1;
          expect(pulls).toBeLessThanOrEqual(10);
          expect(plan.messages).toBeGreaterThanOrEqual(1);
          expect(plan.messages).toBeLessThanOrEqual(given.batchSize);
          expect(plan.bytes).toBeGreaterThanOrEqual(given.minimumBytes);
          openMessages += plan.messages;
          openBytes += plan.bytes ?? 0;
        }
        expect(openMessages).toBeLessThanOrEqual(Math.max(0, given.messages));
        expect(openBytes).toBeLessThanOrEqual(Math.max(0, given.bytes));
      }),
    );
  });

  test("FW-RUN-08 with nothing open, room for a message and for the least bytes, a pull is always sent: no dead end", () => {
    fc.assert(
      fc.property(rooms, (given) => {
        fc.pre(given.messages >= 1 && given.bytes >= given.minimumBytes);
        expect(planPull(given)).not.toBeNull();
      }),
    );
  });
});

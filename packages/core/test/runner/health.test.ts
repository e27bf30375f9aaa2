import { describe, expect, test } from "vitest";
import { type HealthFacts, healthReasons } from "../../src/runner/health.js";

const quiet = { silentMs: 0, doubtMs: 0, heartbeatMs: 500, refusal: null };

const well: HealthFacts = {
  connected: true,
  fetching: quiet,
  missing: null,
  paused: null,
  breakerError: null,
  held: 0,
  oldestHeld: null,
  heldLimit: 500,
  windowFull: false,
  stuckWrites: 0,
  secondClient: false,
  waitingFull: false,
  orderWaitMs: 0,
  awaited: 0,
  drift: null,
  interestOnly: false,
  unconfirmed: 0,
  failingDeadLetters: 0,
};

describe("health", () => {
  test("FW-RUN-38 is green when nothing is wrong", () => {
    expect(healthReasons(well)).toEqual([]);
  });

  test.each([
    ["FW-RUN-05", { missing: "stream" }, /^stream_missing/],
    ["FW-RUN-05", { missing: "consumer" }, /^consumer_missing/],
    ["FW-RUN-38", { paused: "poison" }, /^paused: poison/],
    ["FW-RUN-06", { connected: false }, /^disconnected/],
    ["FW-RUN-06", { fetching: { ...quiet, silentMs: 1000 } }, /^silent: .*1000 ms/],
    ["FW-RUN-06", { fetching: { ...quiet, silentMs: 1000 }, waitingFull: true }, /^silent: .*max_waiting is used up/],
    ["FW-RUN-13", { orderWaitMs: 1000, awaited: 3 }, /^order_waits: for 3 deliveries/],
    ["FW-RUN-33", { fetching: { ...quiet, doubtMs: 1000 } }, /^unverified: .*1000 ms/],
    ["FW-RUN-06", { fetching: { ...quiet, refusal: "Exceeded MaxWaiting" } }, /^pull_refused: .*Exceeded MaxWaiting/],
    [
      "FW-RUN-19",
      { breakerError: { code: "no_space", message: "the disk is full" } },
      /^destination_unavailable.*no_space.*the disk is full$/,
    ],
    ["FW-RUN-16", { stuckWrites: 2 }, /^write_stuck: 2/],
    ["FW-RUN-38", { held: 500, oldestHeld: 17 }, /^held_limit: 500 .*17/],
    ["FW-RUN-12", { secondClient: true }, /^second_client/],
    ["FW-RUN-38", { windowFull: true }, /^window_full/],
    ["FW-RUN-05", { missing: "consumer", interestOnly: true }, /^consumer_missing.*are gone with it/],
    ["FW-RUN-32", { drift: "ack_wait expected 1, found 2" }, /^consumer_drift: ack_wait expected 1, found 2/],
    ["FW-RUN-27", { unconfirmed: 3 }, /^acks_unconfirmed: 3/],
    ["FW-RUN-27", { failingDeadLetters: 4 }, /^dead_letter_failed: 4/],
  ] as const)("%s %j is red", (_id, facts, expected) => {
    const reasons = healthReasons({ ...well, ...facts });
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatch(expected);
  });

  test("FW-RUN-13 lanes that wait shortly, or for nothing that is elsewhere, stay green", () => {
    expect(healthReasons({ ...well, orderWaitMs: 999, awaited: 3 })).toEqual([]);
    expect(healthReasons({ ...well, orderWaitMs: 9000, awaited: 0 })).toEqual([]);
  });

  test.each([[{ held: 499, oldestHeld: 1 }], [{ held: 100_000, oldestHeld: 1, heldLimit: null }], [{ held: 0, heldLimit: 0 }]])(
    "FW-RUN-38 held messages below half of the window stay green: %j",
    (facts) => {
      expect(healthReasons({ ...well, ...facts })).toEqual([]);
    },
  );

  test("FW-RUN-06 silence shorter than two heartbeats is no fault, and without a connection or a consumer it has its own reason", () => {
    expect(healthReasons({ ...well, fetching: { ...quiet, silentMs: 999, doubtMs: 999 } })).toEqual([]);
    const fetching = { ...quiet, silentMs: 5000, doubtMs: 5000, refusal: "x" };
    expect(healthReasons({ ...well, fetching, connected: false })).toEqual(["disconnected: no connection to NATS"]);
    expect(healthReasons({ ...well, fetching, missing: "consumer" })).toHaveLength(1);
  });

  test("FW-RUN-38 several reasons are all told, each beginning with its stable word", () => {
    const reasons = healthReasons({ ...well, connected: false, missing: "consumer", windowFull: true, stuckWrites: 1 });
    expect(reasons.map((reason) => reason.split(":")[0])).toEqual(["consumer_missing", "disconnected", "write_stuck", "window_full"]);
  });
});

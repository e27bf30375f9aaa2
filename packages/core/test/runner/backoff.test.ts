import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BackoffPolicy, backoffDelay, effectiveDeadline, nakDelay } from "../../src/runner/backoff.js";

const policies: fc.Arbitrary<BackoffPolicy> = fc.record({
  mode: fc.constantFrom("fixed", "linear", "exponential"),
  baseMs: fc.integer({ min: 0, max: 3_600_000 }),
  maxMs: fc.integer({ min: 0, max: 3_600_000 }),
  multiplier: fc.double({ min: 1, max: 10, noNaN: true }),
  jitter: fc.constantFrom("none", "full", "equal"),
});
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const failures = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  fc.constant(Number.POSITIVE_INFINITY),
);
const ladder = fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 8 });

const plain: BackoffPolicy = { mode: "exponential", baseMs: 100, maxMs: 60_000, multiplier: 2, jitter: "none" };

describe("retry delay", () => {
  test("FW-RUN-18 is a whole number within 0 and the cap, whatever the count, with no overflow", () => {
    fc.assert(
      fc.property(policies, failures, chance, (policy, count, random) => {
        const delay = backoffDelay(policy, count, () => random);
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(policy.maxMs);
      }),
    );
  });

  test("FW-RUN-18 without jitter never shrinks as failures grow, and fixed never grows", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 2000 }), (policy, count) => {
        const steady = { ...policy, jitter: "none" as const };
        const now = backoffDelay(steady, count, () => 0);
        const next = backoffDelay(steady, count + 1, () => 0);
        expect(next).toBeGreaterThanOrEqual(now);
        if (policy.mode === "fixed") expect(next).toBe(now);
      }),
    );
  });

  test("FW-RUN-18 full jitter takes any share of the delay, equal jitter at least half", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 50 }), chance, (policy, count, random) => {
        const whole = backoffDelay({ ...policy, jitter: "none" }, count, () => random);
        const full = backoffDelay({ ...policy, jitter: "full" }, count, () => random);
        const equal = backoffDelay({ ...policy, jitter: "equal" }, count, () => random);
        expect(full).toBeLessThanOrEqual(whole);
        expect(equal).toBeLessThanOrEqual(whole);
        expect(equal).toBeGreaterThanOrEqual(Math.floor(whole / 2));
      }),
    );
    expect(backoffDelay({ ...plain, jitter: "full" }, 1, () => 0)).toBe(0);
    expect(backoffDelay({ ...plain, jitter: "equal" }, 1, () => 0)).toBe(50);
  });

  test.each([
    ["fixed", 1, 100],
    ["fixed", 7, 100],
    ["linear", 1, 100],
    ["linear", 7, 700],
    ["linear", 100_000, 60_000],
    ["exponential", 1, 100],
    ["exponential", 2, 200],
    ["exponential", 7, 6400],
    ["exponential", 5000, 60_000],
  ] as const)("FW-RUN-18 %s after failure %i waits %i ms", (mode, count, expected) => {
    expect(backoffDelay({ ...plain, mode }, count, () => 0.5)).toBe(expected);
  });

  test("FW-RUN-18 a count beyond all bounds is the cap, also where one to the power of infinity would be no number", () => {
    for (const multiplier of [1, 2]) expect(backoffDelay({ ...plain, multiplier }, Number.POSITIVE_INFINITY, () => 0.9)).toBe(60_000);
  });

  test("FW-RUN-18 a base of zero waits nothing, also where zero times infinity would be no number", () => {
    for (const mode of ["fixed", "linear", "exponential"] as const)
      expect(backoffDelay({ ...plain, mode, baseMs: 0 }, 5000, () => 0.9)).toBe(0);
  });
});

/** The server's own arithmetic for a delayed nak of a consumer with BackOff, as seen on 2.15. */
function serverWaits(sentMs: number, backoffMs: readonly number[], deliveryCount: number): number {
  if (backoffMs.length === 0) return sentMs;
  const entry = backoffMs[Math.min(deliveryCount, backoffMs.length) - 1] as number;
  return sentMs + (entry - (backoffMs[0] as number));
}

describe("delay sent with a nak", () => {
  test("FW-RUN-18 makes the server wait the larger of the policy and its own entry; at least 1 ms is sent", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), ladder, fc.integer({ min: 1, max: 20 }), (wanted, backoffMs, count) => {
        const sent = nakDelay(wanted, backoffMs, count);
        expect(Number.isSafeInteger(sent)).toBe(true);
        expect(sent).toBeGreaterThanOrEqual(1);
        const entry = backoffMs[Math.min(count, backoffMs.length) - 1] as number;
        expect(serverWaits(sent, backoffMs, count)).toBe(Math.max(wanted, entry));
      }),
    );
  });

  test("FW-RUN-18 without BackOff it is the policy's delay, never zero", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), fc.integer({ min: 1, max: 20 }), (wanted, count) => {
        expect(nakDelay(wanted, [], count)).toBe(Math.max(1, wanted));
      }),
    );
  });
});

describe("deadline of a delivery", () => {
  test.each([
    [[], 1, 30_000],
    [[], 9, 30_000],
    [[1000, 5000, 9000], 1, 1000],
    [[1000, 5000, 9000], 2, 5000],
    [[1000, 5000, 9000], 3, 9000],
    [[1000, 5000, 9000], 40, 9000],
    [[1000, 5000, 9000], 0, 1000],
  ])("FW-RUN-15 with BackOff %j delivery %i lasts %i ms", (backoffMs, count, expected) => {
    expect(effectiveDeadline(30_000, backoffMs, count)).toBe(expected);
  });
});

import { expect, test } from "vitest";
import { createFakeClock } from "../src/fault/fake-clock.js";

test("stands still until it is told, and both times go on together", () => {
  const clock = createFakeClock({ wallMs: 1_000 });
  expect([clock.now(), clock.nowNs(), clock.random()]).toEqual([0, 1_000_000_000n, 0.5]);
  clock.advance(250);
  expect([clock.now(), clock.nowNs()]).toEqual([250, 1_250_000_000n]);
});

test("a jump sets the wall clock, forth and back, and leaves the monotonic one alone", () => {
  const clock = createFakeClock({ wallMs: 10_000 });
  clock.jump(3_600_000);
  expect([clock.now(), clock.nowNs()]).toEqual([0, 3_610_000_000_000n]);
  clock.jump(-3_609_000);
  expect([clock.now(), clock.nowNs()]).toEqual([0, 1_000_000_000n]);
});

test("never goes back, and answers the chance it is given", () => {
  const clock = createFakeClock({ random: () => 0.25 });
  expect(() => clock.advance(-1)).toThrow(RangeError);
  expect(() => clock.advance(Number.NaN)).toThrow(RangeError);
  expect(clock.random()).toBe(0.25);
});

test("one that runs goes on with the real time, from the real date", () => {
  const clock = createFakeClock({ runs: true });
  clock.advance(1_000);
  expect(clock.now()).toBeGreaterThanOrEqual(1_000);
  expect(clock.now()).toBeLessThan(20_000);
  expect(Math.abs(Number(clock.nowNs() / 1_000_000n) - 1_000 - Date.now())).toBeLessThan(20_000);
});

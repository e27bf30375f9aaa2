import { expect, test } from "vitest";
import { compare, median, orderOfRound, spread } from "./statistics.mjs";

test("median of odd and even counts, whatever the order", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([10, 1, 4, 2])).toBe(3);
  expect(spread([10, 9, 100])).toEqual({ median: 10, min: 9, max: 100 });
});

test("over six rounds three arms take every place and follow every other arm twice", () => {
  const orders = [0, 1, 2, 3, 4, 5].map((round) => orderOfRound(["a", "b", "c"], round).join(""));
  expect(new Set(orders).size).toBe(6);
  for (const arm of "abc") expect([0, 1, 2].map((place) => orders.filter((order) => order[place] === arm).length)).toEqual([2, 2, 2]);
  for (const pair of ["ab", "ba", "ac", "ca", "bc", "cb"]) expect(orders.filter((order) => order.includes(pair))).toHaveLength(2);
  expect(orderOfRound(["a", "b", "c"], 6).join("")).toBe(orders[0]);
});

test("ratios are taken within a round, so a slow round does not move them", () => {
  const measured = (seconds) => ({ messages: 1000, seconds, cpuMicroseconds: 4000 * seconds });
  const rounds = [
    { bare: measured(1), again: measured(1), runner: measured(2) },
    { bare: measured(10), again: measured(10), runner: measured(20) },
  ];
  const result = compare(rounds, "runner", ["bare", "again"]);
  expect(result.ratio).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
  expect(result.messagesPerSecond).toEqual({ median: 275, min: 50, max: 500 });
  expect(result.microsecondsPerMessage.min).toBe(8);
});

test("the baseline of a ratio is the mean rate of its arms", () => {
  const rounds = [{ bare: { messages: 100, seconds: 1 }, again: { messages: 300, seconds: 1 }, runner: { messages: 100, seconds: 1 } }];
  expect(compare(rounds, "runner", ["bare", "again"]).ratio.median).toBe(0.5);
  expect(compare(rounds, "again", ["bare"]).ratio.median).toBe(3);
});

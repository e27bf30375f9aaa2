import { expect, test } from "vitest";
import { compare, median, orderOfRound, spread } from "./statistics.mjs";

test("median of odd and even counts, whatever the order", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([10, 1, 4, 2])).toBe(3);
  expect(spread([10, 9, 100])).toEqual({ median: 10, min: 9, max: 100 });
});

test("every arm comes first once in as many rounds as there are arms", () => {
  const arms = ["a", "b", "c"];
  expect([0, 1, 2, 3].map((round) => orderOfRound(arms, round).join(""))).toEqual(["abc", "bca", "cab", "abc"]);
});

test("ratios are taken within a round, so a slow round does not move them", () => {
  const measured = (seconds) => ({ messages: 1000, seconds, cpuMicroseconds: 4000 * seconds });
  const rounds = [
    { bare: measured(1), runner: measured(2) },
    { bare: measured(10), runner: measured(20) },
  ];
  const result = compare(rounds, "runner", "bare");
  expect(result.ratio).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
  expect(result.messagesPerSecond).toEqual({ median: 275, min: 50, max: 500 });
  expect(result.microsecondsPerMessage.min).toBe(8);
});

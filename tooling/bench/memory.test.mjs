import { expect, test } from "vitest";
import { summarize } from "./memory.mjs";

test("memory is judged from when it has settled", () => {
  const samples = [1, 5, 6, 7].map((seconds, index) => ({ seconds, megabytes: [500, 100, 120, 110][index] }));
  expect(summarize(samples)).toEqual({ seconds: 7, settledMegabytes: 100, maxMegabytes: 120, lastMegabytes: 110, growth: 1.2 });
});

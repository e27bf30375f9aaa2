import { eventually } from "../../../src/eventually.js";
import type { RunningPipeline } from "./pipeline.js";

/** Waits until health is red for a reason that begins with a word. */
export function red(pipeline: RunningPipeline, word: string, deadlineMs = 10_000): Promise<unknown> {
  return eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith(word)), {
    deadlineMs,
    what: `red health ${word}`,
    intervalMs: 5,
  });
}

/** Waits until health is green. */
export function green(pipeline: RunningPipeline, deadlineMs = 15_000): Promise<unknown> {
  return eventually(() => pipeline.runner.status().healthy, { deadlineMs, what: "green health" });
}

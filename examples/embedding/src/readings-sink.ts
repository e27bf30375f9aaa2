import { readFile } from "node:fs/promises";
import { DestinationUnavailableError, isSinkError, type RetrySafetyAbility, type Sink, type WriteOutcome } from "@sinks/core";
import { keepNewest, type Reading, readingOf } from "./latest-readings.js";
import { replaceFile } from "./replace-file.js";

/**
 * Keeps the newest reading of every sensor in one JSON file. A batch is one replacement of the file; the pipeline writes one
 * batch at a time, because its configuration says so.
 */
export function createReadingsSink(file: string): Sink & RetrySafetyAbility {
  let latest = new Map<string, Reading>();
  return {
    async start() {
      latest = await readLatest(file);
    },

    async writeBatch(messages) {
      const next = new Map(latest);
      const outcomes = messages.map((message): WriteOutcome => {
        try {
          keepNewest(next, ...readingOf(message));
          return null;
        } catch (error) {
          // This message can never be stored; the others can.
          if (isSinkError(error)) return error;
          throw error;
        }
      });
      try {
        await replaceFile(file, JSON.stringify(Object.fromEntries(next), null, 2));
      } catch (cause) {
        throw new DestinationUnavailableError("the file of readings cannot be replaced", { cause });
      }
      latest = next;
      return outcomes;
    },

    // A reading that is written again is not newer than itself.
    retrySafety: () => "safe",

    async stop() {
      // Nothing is open between two writes.
    },
  };
}

async function readLatest(file: string): Promise<Map<string, Reading>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(file, "utf8")) as Record<string, Reading>));
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return new Map();
    throw error;
  }
}

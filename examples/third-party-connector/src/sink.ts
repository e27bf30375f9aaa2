import path from "node:path";
import { type HealthcheckAbility, NotAttemptedError, PermanentSinkError, type RetrySafetyAbility, type Sink } from "@sinks/core";
import { AppendFile } from "./append-file.js";
import { toStartError, toWriteError } from "./errors.js";
import { lineOf } from "./line.js";
import type { LineLogOptions } from "./options.js";

/** What this sink can do besides writing. */
export type LineLogSink = Sink & HealthcheckAbility & RetrySafetyAbility;

/** Makes the sink; nothing is opened before its `start`. */
export function createLineLogSink(options: LineLogOptions, workingDirectory: string): LineLogSink {
  let log: AppendFile | null = null;
  const started = (): AppendFile => {
    if (log === null) throw new NotAttemptedError("the line log is not open");
    return log;
  };
  return {
    async start() {
      try {
        log = await AppendFile.open(path.resolve(workingDirectory, options.file));
      } catch (error) {
        throw toStartError(error);
      }
    },

    async writeBatch(messages) {
      const lines = messages.map((message) => lineOf(message, options.max_line_bytes));
      const good = lines.filter((line) => line instanceof Uint8Array);
      try {
        if (good.length > 0) await started().append(Buffer.concat(good));
      } catch (error) {
        throw toWriteError(error);
      }
      // One outcome for each message, in order: a line that is too long is refused alone.
      return lines.map((line) => (line instanceof PermanentSinkError ? line : null));
    },

    async healthcheck() {
      try {
        await started().check();
      } catch (error) {
        throw toWriteError(error);
      }
    },

    // A line that is written again has the same key, by which readers know it.
    retrySafety: () => "safe",

    async stop() {
      const open = log;
      log = null;
      await open?.close();
    },
  };
}

import type { Telemetry } from "@sinks/core";
import { createRunner, type RunSummary, validateConfiguration } from "@sinks/core/runtime";
import { createReadingsSink } from "./readings-sink.js";

/** What the program is started with. */
export interface ReadingsPipeline {
  readonly url: string;
  readonly stream: string;
  readonly consumer: string;
  readonly subject: string;
  /** A stream must take this subject. */
  readonly deadLetterSubject: string;
  readonly file: string;
  /** End when everything that is in the stream now is settled. */
  readonly once: boolean;
  readonly telemetry: Telemetry;
  readonly signal: AbortSignal;
}

/** Runs the pipeline until the signal aborts, or with `once` to its end. */
export async function runReadings(options: ReadingsPipeline): Promise<RunSummary> {
  const { url, stream, consumer, subject, deadLetterSubject, file, once, telemetry, signal } = options;
  await using runner = createRunner({
    configuration: validateConfiguration({
      nats: { url, stream, consumer, subject },
      delivery: { max_in_flight_batches: 1 },
      dead_letter: { enabled: true, subject: deadLetterSubject },
      sink: { type: "readings" },
    }),
    createSink: () => createReadingsSink(file),
    telemetry,
    once,
  });
  await runner.start(signal);
  return await runner.run(signal);
}

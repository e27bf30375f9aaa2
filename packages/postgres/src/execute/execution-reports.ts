import type { SinkError, Telemetry, WriteOutcome } from "@sinks/core";
import type { Chunk } from "./chunks.js";
import type { MessageWrites, Segment } from "./segment.js";
import type { SegmentFailure } from "./segment-failure.js";
import { writeError } from "./write-error.js";

/** Says once that a batch is taken apart, and why (WO-PG-31). */
export function reportIsolation(telemetry: Telemetry, segment: Segment, failure: SegmentFailure): void {
  telemetry.count("sink_batch_isolations_total");
  telemetry.log("warn", "batch is taken apart to find the message that fails", {
    rows: segment.writes.length,
    ...operationsOf(segment.messages),
    ...codesOf(writeError(failure)),
  });
}

/** Says that writes which should match a row matched none (WO-PG-08). */
export function reportUnmatched(telemetry: Telemetry, unmatched: readonly Chunk[]): void {
  const [first] = unmatched;
  if (first === undefined) return;
  const { operation, destination } = first.form;
  telemetry.log("warn", "a write matched no row", { writes: unmatched.length, operation, destination });
}

/** Says what failed in a batch, by its first failure (WO-OB-03). */
export function reportFailure(
  telemetry: Telemetry,
  messages: readonly MessageWrites[],
  outcomes: readonly WriteOutcome[],
  withDriverMessage: boolean,
): void {
  const index = outcomes.findIndex((outcome) => outcome !== null);
  const error = outcomes[index];
  if (error === undefined || error === null || !telemetry.enabled("warn")) return;
  telemetry.log("warn", "messages of a batch were not stored", {
    failed: outcomes.filter((outcome) => outcome !== null).length,
    index,
    ...operationsOf(messages),
    ...codesOf(error),
    ...(withDriverMessage ? driverMessageOf(error) : {}),
  });
}

function operationsOf(messages: readonly MessageWrites[]): { operations: string; statements: string } {
  const operations = new Set<string>();
  const statements = new Set<string>();
  for (const { writes } of messages) {
    for (const { form } of writes) {
      operations.add(form.operation);
      if (form.operation === "statement") statements.add(form.destination);
    }
  }
  return { operations: [...operations].sort().join(" "), statements: [...statements].sort().join(" ") };
}

function codesOf({ name, code, destinationCode }: SinkError): { class: string; code: string; sqlstate: string | null } {
  return { class: name, code, sqlstate: destinationCode };
}

function driverMessageOf({ cause }: SinkError): { driver_message?: string } {
  return cause instanceof Error ? { driver_message: cause.message } : {};
}

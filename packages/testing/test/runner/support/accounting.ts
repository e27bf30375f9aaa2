import type { RecordingSink } from "./recording-sink.js";
import type { Stage } from "./stage.js";

/** Sequences of dead letters that the server holds. */
export async function deadLettered(stage: Stage): Promise<Set<number>> {
  return new Set((await stage.deadLetters()).map(({ record }) => Number(record["stream_sequence"])));
}

/** Sequences that are gone from the stream, of those ever published. */
export async function gone(stage: Stage): Promise<number[]> {
  const { first_seq: first, last_seq: last, deleted = [] } = await stage.streamState();
  const before = Array.from({ length: Math.min(first, last + 1) - 1 }, (_, index) => index + 1);
  return [...before, ...deleted];
}

/**
 * Looks again and again, until `signal` aborts, whether a sequence has left the stream without being durable in one of the
 * sinks; answers those found. For work-queue and interest streams, where an ack removes the message.
 */
export async function watchForLoss(
  stage: Stage,
  sinks: readonly RecordingSink[],
  signal: AbortSignal,
): Promise<{ lost: number[]; looks: number }> {
  const lost = new Set<number>();
  let looks = 0;
  while (!signal.aborted) {
    const missing = await gone(stage).catch((): number[] => []);
    looks += 1;
    for (const sequence of missing) if (!sinks.some((sink) => sink.copies(sequence) > 0)) lost.add(sequence);
  }
  return { lost: [...lost], looks };
}

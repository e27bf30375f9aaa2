import type { Form } from "./built-write.js";
import type { Chunk } from "./chunks.js";
import { type Course, courseOf } from "./failure-course.js";
import { type MessageWrites, messagesOf, type Segment } from "./segment.js";
import type { SessionFailure } from "./session.js";

/** Why a segment is not applied, or may not be. */
export interface SegmentFailure {
  readonly course: Course;
  /** What session or server said; null where a write matched no row and was to match one (WO-PG-08). */
  readonly failure: SessionFailure | null;
  /** Form of the writes that failed, as far as it is known. */
  readonly form: Form | null;
  /** Messages of the segment with a write in the statement that failed; null where nobody can tell. */
  readonly culprits: readonly MessageWrites[] | null;
  /** With `lost`: true when the server may have made it durable (WO-PG-28). */
  readonly maybeApplied: boolean;
}

/** The failure of a segment at a statement, or around them when `chunk` is null. */
export function segmentFailure(
  segment: Segment,
  chunk: Chunk | null,
  failure: SessionFailure | null,
  commitsAtOnce: boolean,
): SegmentFailure {
  const course = courseOfFailure(failure);
  const named = chunk ?? (segment.chunks.length === 1 ? (segment.chunks[0] as Chunk) : null);
  return {
    course: course === "schema" && writesOf(segment, named).some((write) => write.namesFromMessage) ? "isolate" : course,
    failure,
    form: named?.form ?? null,
    culprits: chunk === null ? null : culpritsOf(segment, chunk),
    maybeApplied: course === "lost" && commitsAtOnce && (failure?.kind === "server" || failure?.sent === true),
  };
}

function courseOfFailure(failure: SessionFailure | null): Course {
  if (failure === null) return "isolate";
  return failure.kind === "lost" ? "lost" : courseOf({ code: failure.code, routine: routineOf(failure.error) });
}

function culpritsOf(segment: Segment, chunk: Chunk): readonly MessageWrites[] {
  const { from, to } = messagesOf(segment, chunk);
  return segment.messages.slice(from, to);
}

function writesOf({ writes }: Segment, chunk: Chunk | null) {
  return chunk === null ? writes : writes.slice(chunk.from, chunk.to);
}

function routineOf(error: unknown): string | null {
  const routine = (error as { readonly routine?: unknown } | null | undefined)?.routine;
  return typeof routine === "string" ? routine : null;
}

import type { SessionFailure } from "../connection/session.js";
import { driverError } from "../driver-error.js";
import type { Form } from "../render/built-write.js";
import type { Chunk } from "./chunks.js";
import { type Course, courseOf } from "./failure-course.js";
import { type MessageWrites, messagesOf, type Segment } from "./segment.js";

/** Why a segment is not applied, or may not be. */
export interface SegmentFailure {
  readonly course: Course;
  /** What session or server said; null where a write matched no row and was to match one (WO-PG-08). */
  readonly failure: SessionFailure | null;
  /** Form of the writes that failed, as far as it is known. */
  readonly form: Form | null;
  /** Messages of the segment with a write in the statement that failed; null where nobody can tell. */
  readonly culprits: readonly MessageWrites[] | null;
  /** Where the statement stands among the payloads of its message, from 1, when it is of one message of several payloads. */
  readonly payloads: PayloadRange | null;
  /** With `lost`: true when the server may have made it durable (WO-PG-28). */
  readonly maybeApplied: boolean;
}

/** The payloads of one statement among `count` of a message. */
export interface PayloadRange {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** The failure of a segment at a statement, or around them when `chunk` is null. `ended` says whether what makes it durable was sent. */
export function segmentFailure(segment: Segment, chunk: Chunk | null, failure: SessionFailure | null, ended: boolean): SegmentFailure {
  const course = failure === null ? "isolate" : courseOf(failure);
  const named = chunk ?? (segment.chunks.length === 1 ? (segment.chunks[0] as Chunk) : null);
  // Only a statement of the message can lack the names that it chose: the ledger's table and what a COMMIT runs are configured.
  const writes = chunk === null ? [] : segment.writes.slice(chunk.from, chunk.to);
  const culprits = chunk === null ? null : culpritsOf(segment, chunk);
  return {
    course: course === "schema" && writes.some((write) => write.namesFromMessage) ? "isolate" : course,
    failure,
    form: named?.form ?? null,
    culprits,
    payloads: chunk === null || culprits?.length !== 1 ? null : payloadsOf(segment, chunk, culprits[0] as MessageWrites),
    maybeApplied: course === "lost" && ended && !isRolledBack(chunk, failure),
  };
}

/**
 * True when the server itself said why it ends the session before this statement was complete: its transaction is rolled back,
 * and what follows in the pipeline, a COMMIT too, is never looked at. A named statement may have committed in between by
 * itself, as a CALL may.
 */
function isRolledBack(chunk: Chunk | null, failure: SessionFailure | null): boolean {
  return chunk !== null && chunk.form.operation !== "statement" && failure !== null && driverError(failure.error).severity !== null;
}

function culpritsOf(segment: Segment, chunk: Chunk): readonly MessageWrites[] {
  const { from, to } = messagesOf(segment, chunk);
  return segment.messages.slice(from, to);
}

function payloadsOf({ messages }: Segment, { from, to }: Chunk, culprit: MessageWrites): PayloadRange | null {
  const count = culprit.writes.length;
  if (count === 1) return null;
  let passed = 0;
  for (const message of messages) {
    if (message === culprit) break;
    passed += message.writes.length;
  }
  return { first: from - passed + 1, last: to - passed, count };
}

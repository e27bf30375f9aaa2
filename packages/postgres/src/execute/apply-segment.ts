import type { SessionFailure } from "../connection/session.js";
import { claimMessages, type Ledger } from "../ledger/ledger.js";
import type { Query } from "../render/built-write.js";
import type { Chunk } from "./chunks.js";
import { control } from "./control.js";
import type { Conversation } from "./conversation.js";
import { planSegment, type Segment } from "./segment.js";
import { type SegmentFailure, segmentFailure } from "./segment-failure.js";
import { type Sent, sendChunks } from "./send-chunks.js";

/** How a segment is applied in a transaction of its own. */
export interface Application {
  /** Commands that set the limits of the transaction; none where the session has them. */
  readonly limits: readonly Query[];
  /** True in isolation: constraints are put off to the end of the segment and checked there (WO-PG-30). */
  readonly deferred: boolean;
  readonly halving: boolean;
  readonly ledger: Ledger | null;
  readonly maximumChunkBytes: number;
}

/** What became of a segment: null when it is durable. */
export interface Applied {
  readonly failure: SegmentFailure | null;
  /** Statements that matched no row where that is worth a warning. */
  readonly unmatched: readonly Chunk[];
}

/**
 * Applies a segment in a transaction of its own and commits it. A single statement that nothing has to be checked for is
 * its own transaction (WO-PG-25). After a failure nothing is applied and the session is free again, unless it is lost.
 */
export async function applySegment(conversation: Conversation, segment: Segment, how: Application): Promise<Applied> {
  if (isItsOwnTransaction(segment, how)) return applyStatement(conversation, segment);
  const opening = [control.begin, ...how.limits, ...(how.deferred ? [control.defer] : [])];
  if (how.ledger === null) return applyTransaction(conversation, segment, opening, how);
  const claim = await claimMessages(conversation, how.ledger, opening, segment.messages);
  if (claim.failure !== null) {
    conversation.owe(control.rollback);
    return failed(segmentFailure(segment, null, claim.failure, false));
  }
  if (claim.fresh.length === segment.messages.length) return applyTransaction(conversation, segment, [], how);
  if (claim.fresh.length > 0) return applyTransaction(conversation, planSegment(claim.fresh, how.maximumChunkBytes), [], how);
  conversation.owe(control.rollback);
  return { failure: null, unmatched: [] };
}

function isItsOwnTransaction({ chunks }: Segment, { limits, deferred, halving, ledger }: Application): boolean {
  const [only] = chunks;
  if (chunks.length !== 1 || only?.form.onZeroRows === "fail") return false;
  return limits.length === 0 && !deferred && !halving && ledger === null;
}

async function applyStatement(conversation: Conversation, segment: Segment): Promise<Applied> {
  const sent = await sendChunks(conversation, segment, { before: [], after: [], halving: false });
  if (sent.failure !== null) return failed(segmentFailure(segment, sent.chunk, sent.failure, sent.ended));
  return { failure: null, unmatched: unmatchedOf(segment, sent, "warn") };
}

async function applyTransaction(
  conversation: Conversation,
  segment: Segment,
  before: readonly Query[],
  { deferred, halving }: Application,
): Promise<Applied> {
  const oneRun = segment.runs === 1 && !deferred && !halving && segment.chunks[0]?.form.onZeroRows !== "fail";
  const after = deferred ? [control.check] : oneRun ? [control.commit] : [];
  const sent = await sendChunks(conversation, segment, { before, after, halving });
  if (sent.failure !== null) {
    conversation.owe(control.rollback);
    return failed(segmentFailure(segment, sent.chunk, sent.failure, oneRun && sent.ended));
  }
  const [missing] = unmatchedOf(segment, sent, "fail");
  if (missing !== undefined) {
    conversation.owe(control.rollback);
    return failed(segmentFailure(segment, missing, null, false));
  }
  const refusal = oneRun ? refusedCommit(sent.last?.command) : await commitTransaction(conversation);
  if (refusal !== null) return failed(segmentFailure(segment, null, refusal.failure, refusal.ended));
  return { failure: null, unmatched: unmatchedOf(segment, sent, "warn") };
}

/** A COMMIT that did not succeed. */
export interface RefusedCommit {
  readonly failure: SessionFailure;
  /** False when it was certainly not sent. */
  readonly ended: boolean;
}

/** Commits; answers what says otherwise, a tag that is no COMMIT included (WO-PG-26). */
export async function commitTransaction(conversation: Conversation): Promise<RefusedCommit | null> {
  const { done, failure, ended } = await conversation.send([control.commit]);
  return failure === null ? refusedCommit(done.at(-1)?.command) : { failure, ended };
}

function refusedCommit(command: string | undefined): RefusedCommit | null {
  return command === "COMMIT" ? null : { failure: { kind: "server", code: null, sent: 0, error: null }, ended: true };
}

/** Statements that touched no row although their form asks for one (WO-PG-08). */
export function unmatchedOf({ chunks }: Segment, { counts }: Sent, answer: "warn" | "fail"): readonly Chunk[] {
  return chunks.filter(({ form }, index) => form.onZeroRows === answer && counts[index] === 0);
}

function failed(failure: SegmentFailure): Applied {
  return { failure, unmatched: [] };
}

import type { QueryResult, SessionFailure } from "../connection/session.js";
import type { BuiltWrite, Query } from "../render/built-write.js";
import { type Chunk, chunkQuery, halvesOf } from "./chunks.js";
import { control } from "./control.js";
import type { Conversation, Reply } from "./conversation.js";
import type { Segment } from "./segment.js";

/** How the statements of a segment are sent. */
export interface Sending {
  /** Commands in front of the first statement, in its pipeline. */
  readonly before: readonly Query[];
  /** Commands behind the last one, in its pipeline. */
  readonly after: readonly Query[];
  /**
   * True once keys turned out to be equal only to the database: statements go one by one, and those that may hold two such
   * keys are halved behind a savepoint, in payload order down to single rows (WO-PG-23). Needs a transaction.
   */
  readonly halving: boolean;
}

/** How the sending of a segment ended. */
export interface Sent {
  /** Rows that each statement touched; null where nobody says: for a statement that was halved, or a CALL. */
  readonly counts: readonly (number | null)[];
  /** What the last command said. */
  readonly last: QueryResult | null;
  readonly failure: SessionFailure | null;
  /** True unless the last command was certainly not sent. */
  readonly ended: boolean;
  /** The statement that failed; null where a command around them did, or where nobody can tell. */
  readonly chunk: Chunk | null;
}

/** Sends all statements of a segment. In the usual way they are one pipeline with one Sync (WO-PG-24). */
export async function sendChunks(conversation: Conversation, segment: Segment, sending: Sending): Promise<Sent> {
  if (sending.halving) return sendOneByOne(conversation, segment, sending);
  const { before, after } = sending;
  const { writes, chunks } = segment;
  const queries = [...before];
  for (const chunk of chunks) queries.push(chunkQuery(writes, chunk));
  queries.push(...after);
  const { done, failure, ended } = await conversation.send(queries);
  const counts: (number | null)[] = [];
  for (let index = before.length; index < done.length && counts.length < chunks.length; index += 1) {
    counts.push((done[index] as QueryResult).count);
  }
  const chunk = failure === null ? null : (chunks[done.length - before.length] ?? null);
  return { counts, last: done.at(-1) ?? null, failure, ended, chunk };
}

async function sendOneByOne(conversation: Conversation, { writes, chunks }: Segment, { before, after }: Sending): Promise<Sent> {
  const counts: (number | null)[] = [];
  let waiting = before;
  for (const chunk of chunks) {
    const mayRepeat = chunk.form.cutsAtRepeatedConflict && chunk.to - chunk.from > 1;
    let failure: SessionFailure | null;
    if (mayRepeat) {
      failure = await sendHalving(conversation, waiting, chunk, writes);
      counts.push(null);
    } else {
      const reply = await conversation.send([...waiting, chunkQuery(writes, chunk)]);
      failure = reply.failure;
      counts.push(reply.done.at(-1)?.count ?? null);
    }
    waiting = [];
    if (failure !== null) return { counts, last: null, failure, ended: false, chunk };
  }
  const { done, failure, ended } = await conversation.send([...waiting, ...after]);
  return { counts, last: done.at(-1) ?? null, failure, ended, chunk: null };
}

/** One statement, or its halves where the database finds one key twice in it. */
async function sendHalving(
  conversation: Conversation,
  before: readonly Query[],
  chunk: Chunk,
  writes: readonly BuiltWrite[],
): Promise<SessionFailure | null> {
  const { failure } = await sendMarked(conversation, before, chunkQuery(writes, chunk));
  if (failure === null || failure.code !== "21000" || chunk.to - chunk.from === 1) return failure;
  for (const half of halvesOf(chunk)) {
    const failed = await sendHalving(conversation, [], half, writes);
    if (failed !== null) return failed;
  }
  return null;
}

async function sendMarked(conversation: Conversation, before: readonly Query[], query: Query): Promise<Reply> {
  const reply = await conversation.send([...before, control.markChunk, query]);
  if (reply.failure === null) conversation.owe(control.releaseChunk);
  else if (reply.done.length > before.length) conversation.owe(control.undoChunk, control.releaseChunk);
  return reply;
}

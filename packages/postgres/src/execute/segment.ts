import type { SinkError } from "@sinks/core";
import type { BuiltWrite } from "../render/built-write.js";
import { type Chunk, chunksOf } from "./chunks.js";
import { runsOf } from "./runs.js";

/** One message of a batch as the execution sees it. */
export interface MessageWrites {
  /** Place of the message in its batch. */
  readonly index: number;
  /** In payload order; none where the message asks for nothing. */
  readonly writes: readonly BuiltWrite[];
  /** Why nothing of it may be sent: it could not be built (WO-GEN-10). */
  readonly refused: SinkError | null;
  /** Key under which the ledger knows the message; null without a ledger. */
  readonly key: string | null;
}

/** Whole messages that are sent together, cut into statements. */
export interface Segment {
  readonly messages: readonly MessageWrites[];
  /** All writes of the messages, in order. */
  readonly writes: readonly BuiltWrite[];
  readonly chunks: readonly Chunk[];
  /** How many runs the chunks come from. */
  readonly runs: number;
}

/** Plans the statements for some messages. */
export function planSegment(messages: readonly MessageWrites[], maximumChunkBytes: number): Segment {
  const writes: BuiltWrite[] = [];
  for (const message of messages) for (const write of message.writes) writes.push(write);
  const runs = runsOf(writes);
  return { messages, writes, chunks: runs.flatMap((run) => chunksOf(writes, run, maximumChunkBytes)), runs: runs.length };
}

/** The messages that have a write in a chunk: from the first of them up to, not including, `to`. */
export function messagesOf({ messages }: Segment, chunk: Chunk): { readonly from: number; readonly to: number } {
  let from = 0;
  let passed = 0;
  while (passed + (messages[from] as MessageWrites).writes.length <= chunk.from) {
    passed += (messages[from] as MessageWrites).writes.length;
    from += 1;
  }
  let to = from;
  while (passed < chunk.to) {
    passed += (messages[to] as MessageWrites).writes.length;
    to += 1;
  }
  return { from, to };
}

/**
 * Takes messages that failed together apart, in order (WO-PG-27). Where `culprits`, neighbours among them, are known to hold
 * the failure, what lies before and after them stays whole; else the messages are halved. One message stays as it is.
 */
export function splitMessages(
  messages: readonly MessageWrites[],
  culprits: readonly MessageWrites[] | null,
): readonly (readonly MessageWrites[])[] {
  const { from, to } = rangeOf(messages, culprits);
  const middle = from + Math.ceil((to - from) / 2);
  return [messages.slice(0, from), messages.slice(from, middle), messages.slice(middle, to), messages.slice(to)].filter(
    (part) => part.length > 0,
  );
}

function rangeOf(messages: readonly MessageWrites[], culprits: readonly MessageWrites[] | null): { from: number; to: number } {
  const [first] = culprits ?? [];
  if (culprits === null || first === undefined) return { from: 0, to: messages.length };
  return { from: messages.indexOf(first), to: messages.indexOf(culprits.at(-1) as MessageWrites) + 1 };
}

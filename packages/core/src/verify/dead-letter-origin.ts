import type { DeadLetterEntry } from "../dead-letter/entry.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";

/** The pipeline whose dead letters count: one life of a stream, read by one consumer. */
export interface PipelineIdentity {
  readonly stream: string;
  readonly consumer: string;
  readonly streamCreatedNs: bigint;
  /** Also entries that do not know of which life of the stream they are (FW-ENV-07). */
  readonly unknownIncarnation: boolean;
}

/** What of a dead letter tells which message it stands for. */
export type DeadLetterFacts = Pick<DeadLetterEntry, "stream" | "streamSequence" | "record" | "chunk" | "identity">;

/** Dead letters in chunks of which only a part was seen so far. */
const remembered = 10_000;

/**
 * Finds the messages that dead letters account for. A body in chunks counts once all of them are there, in whatever order and
 * however often: a part of a message is no message (FW-DLQ-05).
 */
export class AccountedDeadLetters {
  readonly #of: PipelineIdentity;
  readonly #parts = new Map<string, Set<number>>();

  constructor(of: PipelineIdentity) {
    this.#of = of;
  }

  /** Stream sequence of the message that this entry completes; null when it stands for none of this pipeline, or not yet. */
  add(entry: DeadLetterFacts): number | null {
    const sequence = sequenceOfDeadLetter(entry, this.#of);
    const { chunk, identity } = entry;
    if (sequence === null || chunk === null) return sequence;
    // A body that was cut once into three and once into five has two sets of parts, and neither completes the other.
    const cut = `${chunk.count} ${identity}`;
    const parts = (this.#parts.get(cut) ?? new Set()).add(chunk.index);
    if (parts.size >= chunk.count) {
      this.#parts.delete(cut);
      return sequence;
    }
    this.#parts.set(cut, parts);
    if (this.#parts.size > remembered) this.#parts.delete(this.#parts.keys().next().value as string);
    return null;
  }
}

function sequenceOfDeadLetter(entry: DeadLetterFacts, of: PipelineIdentity): number | null {
  const { stream, streamSequence, record } = entry;
  if (record === null || stream !== of.stream || record["consumer"] !== of.consumer) return null;
  const created = record["stream_created_at"];
  const ours = typeof created === "string" ? parseRfc3339(created) === of.streamCreatedNs : of.unknownIncarnation;
  return ours && typeof streamSequence === "number" ? streamSequence : null;
}

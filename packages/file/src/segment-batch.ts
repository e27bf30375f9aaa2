import { type Envelope, isErrorKind, type WriteContext, type WriteOutcome } from "@sinks/core";
import { notAttempted, toFileError } from "./errors.js";
import { LineBuffer } from "./line-buffer.js";
import type { FileOptions } from "./options.js";
import { recordText } from "./record.js";

/** The records of one stream out of a batch; they become one append. */
export interface SegmentGroup {
  readonly stream: string | null;
  readonly firstSequence: bigint | null;
  readonly text: Buffer;
  readonly indexes: readonly number[];
  readonly keys: readonly string[];
}

/** What a batch comes to before anything is written. */
export interface SegmentBatchPlan {
  /** `null` for a message whose record is durable already, or will be when its group is. */
  readonly outcomes: WriteOutcome[];
  readonly groups: readonly SegmentGroup[];
}

/**
 * Turns a batch into lines. A message whose key was seen in this batch or is durable already gets no second line. In an
 * ordered lane nothing follows a failure that stops it (FW-RUN-35, FW-RUN-36).
 */
export function planSegmentBatch(
  messages: readonly Envelope[],
  context: Pick<WriteContext, "ordered" | "lanes" | "onPoison">,
  options: FileOptions,
  storedAtNs: bigint,
  isStored: (key: string) => boolean,
): SegmentBatchPlan {
  const outcomes: WriteOutcome[] = [];
  const groups = new Map<string | null, GroupBuilder>();
  const seen = new Map<string, GroupBuilder>();
  const stopped = new Set<number>();
  const stops = context.onPoison !== "dead_letter_and_continue";
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index] as Envelope;
    const lane = context.ordered ? (context.lanes?.[index] ?? 0) : null;
    if (lane !== null && stopped.has(lane)) {
      outcomes.push(notAttempted());
      continue;
    }
    try {
      const key = message.idempotencyKey();
      const twin = seen.get(key);
      if (twin !== undefined) twin.join(index);
      else if (message.redelivered !== true || !isStored(key)) {
        const line = recordText(message, options, storedAtNs);
        const group = groupOf(groups, message.stream, messages.length);
        group.add(message, index, key, line);
        seen.set(key, group);
      }
      outcomes.push(null);
    } catch (error) {
      const outcome = toFileError(error, "message");
      outcomes.push(outcome);
      if (lane !== null && (stops || !isErrorKind(outcome, "PermanentSinkError"))) stopped.add(lane);
    }
  }
  return { outcomes, groups: [...groups.values()].map((group) => group.build()) };
}

function groupOf(groups: Map<string | null, GroupBuilder>, stream: string | null, expected: number): GroupBuilder {
  let group = groups.get(stream);
  if (group === undefined) {
    group = new GroupBuilder(stream, expected);
    groups.set(stream, group);
  }
  return group;
}

class GroupBuilder {
  readonly #stream: string | null;
  readonly #indexes: number[] = [];
  readonly #keys: string[] = [];
  readonly #lines: LineBuffer;
  #firstSequence: bigint | null = null;

  constructor(stream: string | null, expected: number) {
    this.#stream = stream;
    this.#lines = new LineBuffer(expected);
  }

  add(message: Envelope, index: number, key: string, line: string): void {
    if (this.#keys.length === 0) this.#firstSequence = message.streamSequence;
    this.#indexes.push(index);
    this.#keys.push(key);
    this.#lines.add(line);
  }

  /** A message whose line another one of the batch has brought; it shares that line's fate. */
  join(index: number): void {
    this.#indexes.push(index);
  }

  build(): SegmentGroup {
    const text = this.#lines.bytes();
    return { stream: this.#stream, firstSequence: this.#firstSequence, text, indexes: this.#indexes, keys: this.#keys };
  }
}

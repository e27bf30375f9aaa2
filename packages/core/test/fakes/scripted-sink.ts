import type { Sink, WriteContext, WriteOutcome } from "../../src/connector/sink.js";
import type { Envelope } from "../../src/envelope/envelope.js";

/** What a scripted write answers; a thrown value is thrown. */
export type Answer = (messages: readonly Envelope[], context: WriteContext) => unknown;

/** Stream sequences of a batch, for comparing. */
export function sequencesOf(messages: readonly Envelope[]): number[] {
  return messages.map(({ streamSequence }) => Number(streamSequence));
}

/** A sink that answers by script and keeps the batches it was given. */
export class ScriptedSink implements Sink {
  readonly batches: number[][] = [];
  readonly contexts: WriteContext[] = [];
  readonly #answer: Answer;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  async start(): Promise<void> {
    // Nothing to open.
  }

  async writeBatch(messages: readonly Envelope[], context: WriteContext): Promise<void | readonly WriteOutcome[]> {
    this.batches.push(sequencesOf(messages));
    this.contexts.push(context);
    return (await this.#answer(messages, context)) as void | readonly WriteOutcome[];
  }

  async stop(): Promise<void> {
    // Nothing to close.
  }
}

/** The same, declaring how safe it is to repeat a write. */
export class SafetySink extends ScriptedSink {
  readonly #safety: (messages: readonly Envelope[]) => "safe" | "unsafe";

  constructor(answer: Answer, safety: "safe" | "unsafe" | (() => "safe" | "unsafe")) {
    super(answer);
    this.#safety = typeof safety === "function" ? safety : () => safety;
  }

  retrySafety(messages: readonly Envelope[]): "safe" | "unsafe" {
    return this.#safety(messages);
  }
}

/** A write context nobody aborts. */
export function writeContext(overrides: Partial<WriteContext> = {}): WriteContext {
  return { signal: new AbortController().signal, ordered: false, lanes: null, onPoison: "dead_letter_and_continue", ...overrides };
}

import type { Sink, WriteContext, WriteOutcome } from "../../src/connector/sink.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import {
  ConfigurationError,
  CredentialsError,
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  TemporarySinkError,
  UnknownOutcomeError,
} from "../../src/error/errors.js";

/** What becomes of one message of a write. */
export type Fate =
  | "stored"
  | "temporary"
  | "permanent"
  | "unknown, applied"
  | "unknown, not applied"
  | "unavailable"
  | "credentials"
  | "not attempted";

/** One write: how long it takes, whether it minds an abort, and how it ends. */
export interface PlannedWrite {
  readonly ms: number;
  readonly deaf: boolean;
  readonly end: "outcomes" | "void" | "temporary" | "permanent" | "unknown" | "unavailable" | "configuration" | "wrong length" | "garbage";
  readonly fates: readonly Fate[];
}

/**
 * A destination that plays a script, then takes everything. It keeps the contract of an ordered batch, and remembers what
 * it has and what it refused for good.
 */
export class ScriptedDestination implements Sink {
  readonly orderedBatches = true;
  /** Sequences of each write, in the order they began. */
  readonly batches: number[][] = [];
  readonly stored = new Set<number>();
  readonly refused = new Set<number>();
  readonly #script: PlannedWrite[];
  readonly #safety: "safe" | "unsafe";
  #lives = 0;
  /** Creation time of the stream whose messages count; those of an earlier one are stored beside them. */
  streamCreatedAt: string | null = null;
  /** Told of each message as it becomes durable, and of the sequences of each write as it begins and ends. */
  onStored: (sequence: number) => void = () => undefined;
  onBegin: (messages: readonly Envelope[]) => void = () => undefined;
  onEnd: (messages: readonly Envelope[]) => void = () => undefined;

  constructor(script: readonly PlannedWrite[], safety: "safe" | "unsafe") {
    this.#script = [...script];
    this.#safety = safety;
  }

  /** The process that writes dies: what it has under way is never applied, nor heard of. */
  kill(): void {
    this.#lives += 1;
  }

  /** From now on everything is taken at once. */
  recover(): void {
    this.#script.length = 0;
  }

  retrySafety(): "safe" | "unsafe" {
    return this.#safety;
  }

  async start(): Promise<void> {
    // Nothing to open.
  }

  async stop(): Promise<void> {
    // Nothing to close.
  }

  async writeBatch(messages: readonly Envelope[], context: WriteContext): Promise<void | readonly WriteOutcome[]> {
    const plan = this.#script.shift() ?? { ms: 1, deaf: false, end: "void", fates: [] };
    const life = this.#lives;
    this.batches.push(messages.map(({ streamSequence }) => Number(streamSequence)));
    this.onBegin(messages);
    try {
      const elapsed = await delay(plan.ms, plan.deaf ? null : context.signal);
      if (life !== this.#lives) return await new Promise<never>(() => undefined);
      if (!elapsed) throw new TemporarySinkError("aborted");
      return this.#end(plan, messages, context);
    } finally {
      this.onEnd(messages);
    }
  }

  #end(plan: PlannedWrite, messages: readonly Envelope[], context: WriteContext): void | readonly WriteOutcome[] {
    switch (plan.end) {
      case "void":
        for (const message of messages) this.#store(message);
        return undefined;
      case "outcomes":
        return this.#outcomes(plan.fates, messages, context);
      case "temporary":
        throw new TemporarySinkError("x");
      case "permanent":
        if (messages.length === 1) this.#refuse(messages[0] as Envelope);
        throw new PermanentSinkError("x");
      case "unknown":
        throw new UnknownOutcomeError("x");
      case "unavailable":
        throw new DestinationUnavailableError("x");
      case "configuration":
        throw new ConfigurationError("x");
      case "wrong length":
        return new Array<null>(messages.length + 1).fill(null);
      case "garbage":
        throw { not: "an error" };
    }
  }

  #outcomes(fates: readonly Fate[], messages: readonly Envelope[], context: WriteContext): WriteOutcome[] {
    const stopped = new Set<number>();
    return messages.map((message, index) => {
      const lane = context.lanes?.[index] ?? -1 - index;
      const fate = stopped.has(lane) ? "not attempted" : (fates[index % fates.length] as Fate);
      const stops = fate === "permanent" ? context.onPoison !== "dead_letter_and_continue" : fate !== "stored";
      if (stops) stopped.add(lane);
      return this.#outcome(fate, message);
    });
  }

  #outcome(fate: Fate, message: Envelope): WriteOutcome {
    switch (fate) {
      case "stored":
        this.#store(message);
        return null;
      case "unknown, applied":
        this.#store(message);
        return new UnknownOutcomeError("x");
      case "unknown, not applied":
        return new UnknownOutcomeError("x");
      case "temporary":
        return new TemporarySinkError("x");
      case "permanent":
        this.#refuse(message);
        return new PermanentSinkError("x");
      case "unavailable":
        return new DestinationUnavailableError("x");
      case "credentials":
        return new CredentialsError("x");
      case "not attempted":
        return new NotAttemptedError("x");
    }
  }

  /** Another stream under the same name: what is stored is of the old one. */
  beginStream(createdAt: string): void {
    this.streamCreatedAt = createdAt;
    this.stored.clear();
    this.refused.clear();
  }

  #isOfTheStream(message: Envelope): boolean {
    return this.streamCreatedAt === null || message.streamCreatedAt === this.streamCreatedAt;
  }

  #store(message: Envelope): void {
    if (!this.#isOfTheStream(message)) return;
    this.stored.add(Number(message.streamSequence));
    this.onStored(Number(message.streamSequence));
  }

  #refuse(message: Envelope): void {
    if (this.#isOfTheStream(message)) this.refused.add(Number(message.streamSequence));
  }
}

/** True after `ms`, false when aborted before. */
function delay(ms: number, signal: AbortSignal | null): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

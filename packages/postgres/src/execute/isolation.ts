import type { SinkError } from "@sinks/core";
import type { Query } from "../render/built-write.js";
import type { BatchOutcomes } from "./batch-outcomes.js";
import type { Chunk } from "./chunks.js";
import { limitCommands } from "./control.js";
import type { Conversation } from "./conversation.js";
import type { ExecutionSettings } from "./execution-settings.js";
import { decideIsolationStep, type IsolationStep, mayPass, stepAfterRefusedCommit } from "./isolation-step.js";
import { type IsolationWay, OwnTransactions, SharedTransaction } from "./isolation-ways.js";
import { type MessageWrites, planSegment, type Segment, splitMessages } from "./segment.js";
import type { SegmentFailure } from "./segment-failure.js";
import { permanentError, unavailableError, writeError } from "./write-error.js";

/** What an isolation works on. */
export interface IsolationParts {
  readonly conversation: Conversation;
  readonly outcomes: BatchOutcomes;
  readonly settings: ExecutionSettings;
  /** True once a statement held a key twice to the database (WO-PG-23). */
  readonly halving: boolean;
}

interface Verdict {
  readonly failure: SegmentFailure;
  readonly error: SinkError;
}

/** Longest wait in a search for the message that a timeout is about (WO-PG-29). */
const searchMs = 1000;

/**
 * Finds the messages that fail by themselves and commits their neighbours (WO-PG-27..30). Segments are taken in payload
 * order; one that fails is split until single messages bear the failure.
 *
 * It begins with savepoints, or in transactions when the failure is one that no savepoint cures or a ledger is on; the
 * first turns into the second when such a failure appears, never the other way. So it ends.
 */
export class Isolation {
  readonly #parts: IsolationParts;
  readonly #messages: readonly MessageWrites[];
  /** Statements that matched no row where that is worth a warning. */
  readonly #unmatched: Chunk[] = [];
  readonly #verdicts = new Map<MessageWrites, Verdict>();
  readonly #planRenewed = new Set<MessageWrites>();
  readonly #noteUnmatched = (unmatched: readonly Chunk[]) => void this.#unmatched.push(...unmatched);
  #way: IsolationWay;
  /** What is still to be tried, the next on top. */
  #stack: (readonly MessageWrites[])[] = [];
  #halving: boolean;
  #impatient = false;
  /** Where the first messages end that ran into a timeout together. */
  #timeoutEnd = Number.POSITIVE_INFINITY;

  constructor(parts: IsolationParts, messages: readonly MessageWrites[]) {
    this.#parts = parts;
    this.#messages = messages;
    this.#halving = parts.halving;
    this.#way = new SharedTransaction(parts.conversation, parts.outcomes, this.#noteUnmatched, this.#limits());
  }

  get unmatched(): readonly Chunk[] {
    return this.#unmatched;
  }

  /** Settles the messages; answers the failure that ended it before all of them had their turn. */
  async run(first: SegmentFailure): Promise<SegmentFailure | null> {
    if (mayPass(first) || this.#parts.settings.ledger !== null) this.#toTransactions();
    this.#impatient = first.course === "timed_out";
    this.#push(this.#messages, first.culprits);
    const end = await this.#work();
    this.#restate();
    return end;
  }

  async #work(): Promise<SegmentFailure | null> {
    for (;;) {
      const segment = this.#next();
      if (segment === null || this.#way.full) {
        const refusal = await this.#way.commit();
        if (refusal !== null && this.#act(stepAfterRefusedCommit(refusal), [], refusal)) return refusal;
        if (refusal !== null) continue;
      }
      if (segment === null) return null;
      const failure = await this.#way.apply(segment, this.#halving);
      if (failure !== null && this.#act(this.#decide(segment, failure), segment.messages, failure)) return failure;
    }
  }

  /** The next messages that may go; null when there are none. */
  #next(): Segment | null {
    for (;;) {
      const messages = this.#stack.pop();
      if (messages === undefined) return null;
      const going = messages.filter((message) => this.#parts.outcomes.mayGo(message));
      if (going.length > 0) return planSegment(going, this.#parts.settings.maximumChunkBytes);
    }
  }

  #decide({ messages }: Segment, failure: SegmentFailure): IsolationStep {
    const first = messages[0] as MessageWrites;
    const step = decideIsolationStep(failure, {
      single: messages.length === 1,
      inTransactions: this.#way.inTransactions,
      halving: this.#halving,
      planRenewed: this.#planRenewed.has(first),
      timedOutElsewhere: first.index > this.#timeoutEnd,
    });
    if (failure.course === "stale_plan") this.#planRenewed.add(first);
    if (failure.course === "timed_out") {
      this.#impatient = true;
      if (this.#way.inTransactions) this.#timeoutEnd = Math.min(this.#timeoutEnd, (messages.at(-1) as MessageWrites).index);
    }
    return step;
  }

  /** Acts on a failure; true when that ends the isolation. */
  #act(step: IsolationStep, messages: readonly MessageWrites[], failure: SegmentFailure): boolean {
    switch (step) {
      case "leave":
        this.#leave(messages, failure);
        return true;
      case "verdict":
        this.#settle(messages, failure);
        return false;
      case "split":
        this.#push(messages, failure.culprits);
        return false;
      case "transactions":
        this.#way.abandon();
        this.#toTransactions();
        this.#stack = [];
        this.#push(this.#unsettled(), null);
        return false;
      case "halve":
        this.#halving = true;
        this.#stack.push(messages);
        return false;
      case "again":
        this.#stack.push(messages);
        return false;
    }
  }

  #settle(messages: readonly MessageWrites[], failure: SegmentFailure): void {
    const error = writeError(failure);
    for (const message of messages) this.#verdicts.set(message, { failure, error });
    this.#parts.outcomes.failed(messages, error);
  }

  /** What was under way is not applied, or perhaps is; what had no turn yet stays unsettled. */
  #leave(messages: readonly MessageWrites[], failure: SegmentFailure): void {
    const { outcomes } = this.#parts;
    const { applied, failed } = this.#way.abandon();
    if (failure.course === "timed_out") {
      outcomes.failed(this.#unsettled(), unavailableError(failure));
      return;
    }
    outcomes.failed([...applied, ...messages], writeError(failure));
    outcomes.failed(failed, writeError({ ...failure, maybeApplied: false }));
  }

  /** Says what a verdict means now that the fate of the neighbours is known (WO-ERR-06, WO-PG-29). */
  #restate(): void {
    const { outcomes } = this.#parts;
    const committed = this.#messages.filter((message) => outcomes.of(message) === null);
    const destinations = new Set(committed.flatMap(({ writes }) => writes.map(({ form }) => form.destination)));
    for (const [message, { failure, error }] of this.#verdicts) {
      if (outcomes.of(message) !== error) continue;
      if (failure.course === "timed_out" && committed.length === 0) outcomes.restate(message, unavailableError(failure));
      if (failure.course === "denied" && destinations.has(destinationOf(message, failure)))
        outcomes.restate(message, permanentError(failure));
    }
  }

  #toTransactions(): void {
    const { conversation, outcomes, settings } = this.#parts;
    const { ledger, maximumChunkBytes } = settings;
    this.#way = new OwnTransactions(conversation, outcomes, this.#noteUnmatched, () => ({
      limits: this.#limits(),
      ledger,
      maximumChunkBytes,
    }));
  }

  #limits(): readonly Query[] {
    const { limits, limitsPerTransaction } = this.#parts.settings;
    if (!this.#impatient) return limitsPerTransaction ? limitCommands(limits) : [];
    return limitCommands({ statementMs: Math.min(searchMs, limits.statementMs), lockMs: Math.min(searchMs, limits.lockMs) });
  }

  #push(messages: readonly MessageWrites[], culprits: readonly MessageWrites[] | null): void {
    this.#stack.push(...splitMessages(messages, culprits).toReversed());
  }

  #unsettled(): readonly MessageWrites[] {
    return this.#messages.filter((message) => this.#parts.outcomes.of(message) === undefined);
  }
}

function destinationOf({ writes }: MessageWrites, { form }: SegmentFailure): string {
  return (form ?? writes[0]?.form)?.destination ?? "";
}

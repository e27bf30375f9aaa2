import type { Query } from "../render/built-write.js";
import { type Application, applySegment, commitTransaction, unmatchedOf } from "./apply-segment.js";
import type { BatchOutcomes, OutcomesMark } from "./batch-outcomes.js";
import type { Chunk } from "./chunks.js";
import { control } from "./control.js";
import type { Conversation } from "./conversation.js";
import type { MessageWrites, Segment } from "./segment.js";
import { type SegmentFailure, segmentFailure } from "./segment-failure.js";
import { sendChunks } from "./send-chunks.js";

/** Each savepoint costs the server a lock until its transaction ends (WO-PG-27). */
const savepointsPerTransaction = 500;

/** One way to try the segments of an isolation. */
export interface IsolationWay {
  readonly inTransactions: boolean;
  /** True when `commit` should come before the next segment. */
  readonly full: boolean;
  /** Tries a segment; null when it is applied, as far as `commit` says so later. */
  apply(segment: Segment, halving: boolean): Promise<SegmentFailure | null>;
  /** Makes durable what was applied; after a failure it is to be abandoned. */
  commit(): Promise<SegmentFailure | null>;
  /** Takes back what is not durable, outcomes included; answers which messages were applied and which had failed. */
  abandon(): Abandoned;
}

/** Takes note of statements of durable segments that matched no row where that is worth a warning (WO-PG-08). */
export type NoteUnmatched = (unmatched: readonly Chunk[]) => void;

/** Messages whose outcomes were taken back. */
export interface Abandoned {
  readonly applied: readonly MessageWrites[];
  readonly failed: readonly MessageWrites[];
}

/** Each segment in a transaction of its own: what fails keeps no lock and no snapshot (WO-PG-29, FW-LED-02). */
export class OwnTransactions implements IsolationWay {
  readonly inTransactions = true;
  readonly full = false;
  readonly #conversation: Conversation;
  readonly #outcomes: BatchOutcomes;
  readonly #noteUnmatched: NoteUnmatched;
  readonly #application: () => Omit<Application, "halving" | "deferred">;

  constructor(
    conversation: Conversation,
    outcomes: BatchOutcomes,
    noteUnmatched: NoteUnmatched,
    application: () => Omit<Application, "halving" | "deferred">,
  ) {
    this.#conversation = conversation;
    this.#outcomes = outcomes;
    this.#noteUnmatched = noteUnmatched;
    this.#application = application;
  }

  async apply(segment: Segment, halving: boolean): Promise<SegmentFailure | null> {
    const { failure, unmatched } = await applySegment(this.#conversation, segment, { ...this.#application(), halving, deferred: true });
    if (failure !== null) return failure;
    this.#outcomes.applied(segment.messages);
    this.#noteUnmatched(unmatched);
    return null;
  }

  async commit(): Promise<null> {
    return null;
  }

  abandon(): Abandoned {
    return { applied: [], failed: [] };
  }
}

/** Segments share a transaction, each behind a savepoint (WO-PG-27). */
export class SharedTransaction implements IsolationWay {
  readonly inTransactions = false;
  readonly #conversation: Conversation;
  readonly #outcomes: BatchOutcomes;
  readonly #noteUnmatched: NoteUnmatched;
  readonly #limits: readonly Query[];
  #unmatched: Chunk[] = [];
  #mark: OutcomesMark | null = null;
  #tried = new Set<MessageWrites>();
  #savepoints = 0;

  constructor(conversation: Conversation, outcomes: BatchOutcomes, noteUnmatched: NoteUnmatched, limits: readonly Query[]) {
    this.#conversation = conversation;
    this.#outcomes = outcomes;
    this.#noteUnmatched = noteUnmatched;
    this.#limits = limits;
  }

  get full(): boolean {
    return this.#savepoints >= savepointsPerTransaction;
  }

  async apply(segment: Segment, halving: boolean): Promise<SegmentFailure | null> {
    const opening = this.#mark === null ? [control.begin, ...this.#limits] : [];
    this.#mark ??= this.#outcomes.mark();
    this.#savepoints += 1;
    for (const message of segment.messages) this.#tried.add(message);
    const before = [...opening, control.markSegment, control.defer];
    const sent = await sendChunks(this.#conversation, segment, { before, after: [control.check], halving });
    const [missing] = unmatchedOf(segment, sent, "fail");
    if (sent.failure === null && missing === undefined) {
      this.#conversation.owe(control.releaseSegment);
      this.#outcomes.applied(segment.messages);
      this.#unmatched.push(...unmatchedOf(segment, sent, "warn"));
      return null;
    }
    this.#conversation.owe(control.undoSegment, control.releaseSegment);
    return segmentFailure(segment, sent.chunk ?? missing ?? null, sent.failure, false);
  }

  async commit(): Promise<SegmentFailure | null> {
    if (this.#mark === null) return null;
    const refusal = await commitTransaction(this.#conversation);
    if (refusal !== null) return segmentFailure(nothing, null, refusal.failure, refusal.ended);
    this.#noteUnmatched(this.#unmatched);
    this.#begin();
    return null;
  }

  abandon(): Abandoned {
    const tried = [...this.#tried];
    const applied = tried.filter((message) => this.#outcomes.of(message) === null);
    const failed = tried.filter((message) => this.#outcomes.of(message) instanceof Error);
    if (this.#mark !== null) {
      this.#conversation.owe(control.rollback);
      this.#outcomes.returnTo(this.#mark);
    }
    this.#begin();
    return { applied, failed };
  }

  #begin(): void {
    this.#mark = null;
    this.#unmatched = [];
    this.#tried = new Set();
    this.#savepoints = 0;
  }
}

const nothing: Segment = Object.freeze({ messages: [], writes: [], chunks: [], runs: 0 });

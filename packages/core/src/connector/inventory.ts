/** What a destination is asked to list: the records of one life of a stream, between two of its sequences (FW-CLI-07). */
export interface InventoryRequest {
  readonly stream: string;
  /** The pipeline that is asked about, as `SinkContext` names it. */
  readonly pipeline: string;
  /** Creation times of that life, ns since the Unix epoch; null stands for records that were written without one. */
  readonly streamCreatedNs: readonly (bigint | null)[];
  /** What the idempotency keys of these messages start with; the stream sequence in digits is the rest (FW-ENV-06). */
  readonly keyPrefixes: readonly string[];
  /** First and last stream sequence of interest; records of others may be left out. */
  readonly from: number;
  readonly to: number;
}

/** Takes what a destination lists. */
export interface InventoryReport {
  /** A whole record of this sequence is there; called once for each record, in any order. */
  stored(sequence: number): void;
  /** Something that should be a record, or hold records, cannot be read; says what, for people, without any content. */
  damaged(what: string): void;
  /** The place of the records is not there, and nothing that was ever stored in it; says what, for people. */
  absent(what: string): void;
  /** Something else that a reader of the result must know, one sentence. */
  note(what: string): void;
}

/**
 * Lists what the destination holds, in bounded memory. Called on a sink that was made and not started, also while another
 * process writes: it connects by itself, writes nothing and leaves nothing open. Every record that was durable before the
 * call must be reported; one that becomes durable meanwhile may be.
 */
export interface InventoryAbility {
  inventory(request: InventoryRequest, report: InventoryReport, signal: AbortSignal): Promise<void>;
}

import type { SinkError, WriteOutcome } from "@sinks/core";
import { notAttempted } from "./errors.js";

/** What is known of a batch of message files while it is written. */
export class MessageBatch {
  /** Nothing counts as stored until its outcome says so. */
  readonly outcomes: WriteOutcome[];
  /** Messages that are durable once their folder is flushed, by folder. */
  readonly touched = new Map<string, number[]>();
  /** Temporaries of visible files, to be removed after the flush. */
  readonly temporaries: string[] = [];
  readonly #folders = new Map<string | null, Promise<string>>();

  constructor(size: number) {
    this.outcomes = new Array<WriteOutcome>(size).fill(notAttempted());
  }

  /** The path of a subject's folder; asked for once a batch, however many messages go there. */
  folder(name: string | null, ensure: (name: string | null) => Promise<string>): Promise<string> {
    let folder = this.#folders.get(name);
    if (folder === undefined) {
      folder = ensure(name);
      this.#folders.set(name, folder);
    }
    return folder;
  }

  touch(folder: string, index: number): void {
    const indexes = this.touched.get(folder);
    if (indexes === undefined) this.touched.set(folder, [index]);
    else indexes.push(index);
  }

  fail(indexes: readonly number[], error: SinkError): void {
    for (const index of indexes) this.outcomes[index] = error;
  }
}

import { expect } from "vitest";
import type { PipelineCase } from "./pipeline-case.js";

const poison = "not JSON";

/** Publishes a load while the command runs: one in twenty is poison, and one in ten is published twice under its id. */
export class Load {
  /** What the sink must store: the number in the body, by sequence. */
  readonly good = new Map<number, number>();
  /** Sequences of what must be a dead letter. */
  readonly bad = new Set<number>();
  readonly #job: PipelineCase;
  readonly #keys: number;
  #published = 0;

  /** Bodies have a number `n` and a `key` that every so many messages share. */
  constructor(job: PipelineCase, keys = 1) {
    this.#job = job;
    this.#keys = keys;
  }

  async publish(count: number): Promise<void> {
    const chunk = 20;
    for (let from = 0; from < count; from += chunk) {
      const first = this.#published;
      this.#published += chunk;
      const messages = Array.from({ length: chunk }, (_, index) => ({
        subject: `${this.#job.prefix}.${index % 7}`,
        body: index === 0 ? poison : `{"n":${first + index},"key":${(first + index) % this.#keys}}`,
        id: `${this.#job.stream}-${first + index}`,
      }));
      const sequences = await this.#job.publish(messages);
      for (const [index, sequence] of sequences.entries()) {
        if (index === 0) this.bad.add(sequence);
        else this.good.set(sequence, first + index);
      }
      const again = await this.#job.publish(messages.filter((_, index) => index % 10 === 3));
      // The server knows them by their ids: no new message.
      expect(again.every((sequence) => sequences.includes(sequence))).toBe(true);
    }
  }
}

/** Originals of the dead letters, by their sequence; one that is there twice counts twice. */
export async function deadLettered(job: PipelineCase): Promise<readonly number[]> {
  const { state } = await job.manager.streams.info(job.deadLetters.stream);
  const found: number[] = [];
  for (let sequence = Math.max(1, state.first_seq); sequence <= state.last_seq; sequence += 1) {
    const stored = await job.manager.streams.getMessage(job.deadLetters.stream, { seq: sequence });
    if (stored !== null) found.push((stored.json() as { stream_sequence: number }).stream_sequence);
  }
  return found;
}

/** On a work queue an acknowledged message is gone. Tells of each sequence whether the stream still has it. */
export async function leftInStream(job: PipelineCase): Promise<(sequence: number) => boolean> {
  const { state } = await job.manager.streams.info(job.stream, { deleted_details: true });
  const deleted = new Set(state.deleted ?? []);
  return (sequence) => state.messages > 0 && sequence >= state.first_seq && sequence <= state.last_seq && !deleted.has(sequence);
}

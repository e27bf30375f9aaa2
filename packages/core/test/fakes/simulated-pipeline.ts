import type { InventoryReport } from "../../src/connector/inventory.js";
import type { StreamLimits } from "../../src/source/stream-limits.js";
import type { Readings, Take } from "../../src/verify/reconcile.js";
import { noLimits } from "./no-limits.js";

/** A message on its way; it only ever moves on. */
type Stage = "undelivered" | "delivered" | "durable" | "acknowledged";

/** What a simulated pipeline is made of. */
export interface SimulatedPipelineOptions {
  readonly messages: number;
  readonly retention: StreamLimits["retention"];
  /** Sequences that are acknowledged although nothing took them: the fault that must be found. */
  readonly lost: ReadonlySet<number>;
  /** Sequences that go to the dead letters. */
  readonly deadLettered: ReadonlySet<number>;
  /** Gives numbers from 0 up to 1. */
  readonly random: () => number;
  /** Steps between two moments of a reading. */
  readonly pace: number;
  /** Whether an operator removes messages of the stream now and then. */
  readonly removals: boolean;
}

/** A pipeline that works on while it is read: steps happen before, during and between readings. */
export class SimulatedPipeline implements Readings {
  readonly #options: SimulatedPipelineOptions;
  readonly #stages: Stage[];
  readonly #inStream: boolean[];
  #delivered = 0;

  constructor(options: SimulatedPipelineOptions) {
    this.#options = options;
    this.#stages = new Array<Stage>(options.messages + 1).fill("undelivered");
    this.#inStream = new Array<boolean>(options.messages + 1).fill(true);
  }

  /** Sequences that were acknowledged and are nowhere, and that the stream did not remove before. */
  readonly lostNow = new Set<number>();

  /** Takes steps until all messages are acknowledged. */
  finish(): void {
    while (this.#stages.some((stage, sequence) => sequence > 0 && stage !== "acknowledged")) this.#step();
  }

  work(): void {
    for (let step = Math.floor(this.#options.random() * this.#options.pace); step > 0; step -= 1) this.#step();
  }

  async consumer() {
    this.work();
    const unsettled = this.#sequences().filter((sequence) => ["delivered", "durable"].includes(this.#stages[sequence] as Stage));
    const floor = unsettled.length === 0 ? this.#delivered : Math.min(...unsettled) - 1;
    return { floor, delivered: this.#delivered, ackPending: unsettled.length };
  }

  async stream() {
    this.work();
    const present = this.#sequences().filter((sequence) => this.#inStream[sequence]);
    const limits: StreamLimits = {
      retention: this.#options.retention,
      firstSequence: present[0] ?? this.#options.messages + 1,
      lastSequence: this.#options.messages,
      ageMs: 1000,
      ...noLimits,
    };
    return { limits, wholeStream: true };
  }

  async destination(from: number, to: number, report: InventoryReport): Promise<void> {
    await this.#list(from, to, report.stored, (sequence) => this.#isDurable(sequence) && !this.#isElsewhere(sequence));
  }

  async deadLetters(from: number, to: number, deadLettered: Take): Promise<void> {
    const { deadLettered: letters } = this.#options;
    await this.#list(from, to, deadLettered, (sequence) => this.#isDurable(sequence) && letters.has(sequence));
  }

  async existing(positions: (from: number) => number | null, found: Take): Promise<void> {
    for (let at = positions(1); at !== null; at = positions(at + 1)) {
      this.work();
      if (this.#inStream[at]) found(at);
    }
  }

  /** In any order; what is durable at the call is told, what becomes durable meanwhile perhaps. */
  async #list(from: number, to: number, take: Take, has: (sequence: number) => boolean): Promise<void> {
    this.work();
    const sequences = this.#sequences().filter((sequence) => sequence >= from && sequence <= to);
    const certain = new Set(sequences.filter(has));
    for (const sequence of sequences.sort(() => this.#options.random() - 0.5)) {
      this.work();
      if (certain.has(sequence) || (has(sequence) && this.#options.random() < 0.5)) take(sequence);
    }
  }

  #sequences(): number[] {
    return this.#stages.map((_, sequence) => sequence).slice(1);
  }

  #isDurable(sequence: number): boolean {
    return ["durable", "acknowledged"].includes(this.#stages[sequence] as Stage) && !this.#skipped.has(sequence);
  }

  #isElsewhere(sequence: number): boolean {
    const { lost, deadLettered } = this.#options;
    return lost.has(sequence) || deadLettered.has(sequence);
  }

  /** Removed before they were delivered: the consumer passes over them. */
  readonly #skipped = new Set<number>();

  #step(): void {
    const { random, removals, messages } = this.#options;
    const choice = random();
    if (removals && choice < 0.15) this.#inStream[1 + Math.floor(random() * messages)] = false;
    else if (choice < 0.4) this.#deliver();
    else this.#advance();
  }

  #deliver(): void {
    while (this.#delivered < this.#options.messages) {
      this.#delivered += 1;
      const there = this.#inStream[this.#delivered] === true;
      this.#stages[this.#delivered] = there ? "delivered" : "acknowledged";
      if (there) return;
      this.#skipped.add(this.#delivered);
    }
  }

  #advance(): void {
    const { random, retention, lost } = this.#options;
    const moving = this.#sequences().filter((sequence) => ["delivered", "durable"].includes(this.#stages[sequence] as Stage));
    const sequence = moving[Math.floor(random() * moving.length)];
    if (sequence === undefined) return;
    if (this.#stages[sequence] === "delivered") {
      this.#stages[sequence] = "durable";
      return;
    }
    this.#stages[sequence] = "acknowledged";
    if (lost.has(sequence) && this.#inStream[sequence]) this.lostNow.add(sequence);
    if (retention !== "limits") this.#inStream[sequence] = false;
  }
}

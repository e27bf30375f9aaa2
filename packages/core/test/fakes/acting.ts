import type { WriteOutcome } from "../../src/connector/sink.js";
import { DeadLetters } from "../../src/dead-letter/publisher.js";
import type { BatcherSettings } from "../../src/runner/batcher.js";
import { newCounters } from "../../src/runner/counters.js";
import { Flight, type FlightEntry } from "../../src/runner/flight.js";
import { FreeLanes } from "../../src/runner/free-lanes.js";
import { MassRejection } from "../../src/runner/mass-rejection.js";
import { OrderedLanes } from "../../src/runner/ordered-lanes.js";
import { OutcomeActions } from "../../src/runner/outcome-actions.js";
import type { PipelineSettings } from "../../src/runner/pipeline-settings.js";
import { Settlement } from "../../src/runner/settle.js";
import type { VerdictPolicy } from "../../src/runner/verdict.js";
import { admitted, type MessageFields } from "./entries.js";
import { FakeAckPort } from "./fake-ack-port.js";
import { FakeDeadLetterPort } from "./fake-dead-letter-port.js";
import { RecordingTelemetry } from "./recording-telemetry.js";
import { pipelineSettingsOf, verdictPolicy } from "./runner-settings.js";

const all: BatcherSettings = { batchSize: 100, batchMaxBytes: 1_000_000, lingerMs: 0 };

interface Options {
  readonly policy?: Partial<VerdictPolicy>;
  readonly settings?: Partial<PipelineSettings>;
  readonly maxRatio?: number;
}

/** Verdicts carried out over real tables and fakes of everything that reaches out; time stands at 1000 ms. */
export class Acting {
  readonly flight = new Flight();
  readonly ack = new FakeAckPort();
  readonly letters = new FakeDeadLetterPort();
  readonly telemetry = new RecordingTelemetry();
  readonly counters = newCounters();
  readonly told: string[] = [];
  readonly lanes: FreeLanes | OrderedLanes;
  readonly actions: OutcomeActions;
  readonly settings: PipelineSettings;
  readonly leaving = new AbortController();
  now = 1000;

  constructor({ policy = {}, settings = {}, maxRatio }: Options = {}) {
    const verdict = verdictPolicy(policy);
    this.settings = pipelineSettingsOf({ verdict, ordered: verdict.ordered, onPoison: verdict.onPoison, ...settings });
    this.lanes = verdict.ordered ? new OrderedLanes((entry) => entry.envelope?.subject ?? "", true) : new FreeLanes();
    const { signal } = this.leaving;
    this.actions = new OutcomeActions(
      {
        flight: this.flight,
        lanes: this.lanes,
        settlement: new Settlement(this.ack, { mode: "batch_confirmed", confirmTimeoutMs: 100 }, this.telemetry, signal),
        deadLetters: verdict.deadLetters
          ? new DeadLetters(
              this.letters,
              { subject: "dlq", stream: null, domain: null, maxBytes: null, maxInFlight: 4, waitMs: () => this.settings.retry.baseMs },
              this.telemetry,
            )
          : null,
        massRejection: maxRatio === undefined ? null : new MassRejection(maxRatio, () => this.now),
        deadLetterContent: { includePayload: true, includeHeaders: true, includeError: true, format: "json", oversize: "chunk" },
        counters: this.counters,
        settings: this.settings,
        acknowledged: () => undefined,
        sinkName: "orders",
        telemetry: this.telemetry,
        now: () => this.now,
        random: () => 0.5,
        signal,
      },
      {
        trip: (error) => this.told.push(`trip ${error.code}`),
        pause: (reason) => this.told.push(`pause ${reason}`),
        held: (entry) => this.told.push(`held ${entry.sequence}`),
        changed: () => undefined,
      },
    );
  }

  /** Admits messages and takes them out as one batch, as a write would. */
  batch(...messages: readonly (number | MessageFields)[]): FlightEntry[] {
    for (const message of messages) this.arrive(message);
    const batch = this.lanes.take(this.now, all);
    for (const entry of batch) entry.state = "writing";
    return batch;
  }

  arrive(message: number | MessageFields): FlightEntry {
    const fields = typeof message === "number" ? { sequence: message } : message;
    const entry = admitted(this.flight, fields, { at: this.now });
    this.actions.arrive(entry);
    return entry;
  }

  apply(batch: readonly FlightEntry[], outcomes: readonly WriteOutcome[], safe = false): void {
    this.actions.apply(batch, outcomes, safe);
  }

  /** Lets everything that was begun come to its end. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  }

  /** Verbs with the stream sequence they went to. */
  get sent(): string[] {
    return this.ack.sent.map(({ subject, verb }) => `${verb} ${subject.split(".")[5]}`);
  }

  get waiting(): unknown[] {
    return this.lanes.waiting().map(({ sequence }) => sequence);
  }

  /** Entries of the flight by sequence and state. */
  get here(): string[] {
    return [...this.flight.entries()].map(({ sequence, state }) => `${sequence} ${state}`);
  }

  takeable(): unknown[] {
    return this.lanes.take(this.now, all).map(({ sequence }) => sequence);
  }
}

import { vi } from "vitest";
import { DeadLetters } from "../../src/dead-letter/publisher.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import { createEnvelopeOrigin } from "../../src/envelope/envelope-origin.js";
import { ConsumerWatch } from "../../src/runner/consumer-watch.js";
import { newCounters } from "../../src/runner/counters.js";
import { Flight } from "../../src/runner/flight.js";
import { FreeLanes } from "../../src/runner/free-lanes.js";
import { OrderedLanes } from "../../src/runner/ordered-lanes.js";
import { Pipeline } from "../../src/runner/pipeline.js";
import type { PipelineSettings } from "../../src/runner/pipeline-settings.js";
import { Settlement, type SettleSettings } from "../../src/runner/settle.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { FakeDeadLetterPort } from "./fake-dead-letter-port.js";
import { pipelineSettingsOf, verdictPolicy } from "./runner-settings.js";
import { type PlannedWrite, ScriptedDestination } from "./scripted-destination.js";
import { messageBytes, SimulatedStream } from "./simulated-stream.js";

/** Everything a run depends on. */
export interface Scenario {
  readonly ordering: "none" | "per_key" | "strict";
  readonly safety: "safe" | "unsafe";
  readonly deadLetters: boolean;
  readonly onPoison: "dead_letter_and_continue" | "park_key" | "stop";
  readonly onUnknown: "redeliver" | "dead_letter" | "hold";
  readonly temporaryAction: "nak" | "leave_unacked";
  readonly maxRetries: number;
  readonly maxDeliver: number | null;
  readonly mode: SettleSettings["mode"];
  readonly slots: number;
  readonly batchSize: number;
  readonly wholeLane: boolean;
  readonly writes: readonly PlannedWrite[];
  readonly letters: readonly boolean[];
  readonly steps: readonly {
    readonly kind: "publish" | "pass" | "hurry" | "disconnect" | "reconnect" | "resume" | "kill" | "new stream" | "new consumer";
    readonly key: string;
    readonly ms: number;
  }[];
}

/** A plain scenario: no order, dead letters on, a sink that takes everything. */
export function scenarioOf(overrides: Partial<Scenario> = {}): Scenario {
  return {
    ordering: "none",
    safety: "safe",
    deadLetters: true,
    onPoison: "dead_letter_and_continue",
    onUnknown: "redeliver",
    temporaryAction: "nak",
    maxRetries: 3,
    maxDeliver: null,
    mode: "batch_confirmed",
    slots: 1,
    batchSize: 4,
    wholeLane: true,
    writes: [],
    letters: [],
    steps: [],
    ...overrides,
  };
}

const ackWaitMs = 1000;
const maxMessages = 8;

/** One pipeline between a simulated stream and a scripted destination, with the promises checked as things happen. */
export class PipelineRun {
  readonly stream: SimulatedStream;
  readonly destination: ScriptedDestination;
  readonly letters = new FakeDeadLetterPort();
  flight = new Flight();
  lanes: FreeLanes | OrderedLanes;
  pipeline: Pipeline;
  leaving = new AbortController();
  readonly broken: string[] = [];
  readonly #scenario: Scenario;
  #watch: ConsumerWatch;
  readonly #settings: PipelineSettings;
  readonly #writing = new Set<string>();
  readonly #server: NodeJS.Timeout;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.stream = new SimulatedStream({ ackWaitMs, maxDeliver: scenario.maxDeliver });
    this.destination = new ScriptedDestination(scenario.writes, scenario.safety);
    this.#settings = settingsOf(scenario);
    this.lanes = this.#newLanes();
    this.#watch = new ConsumerWatch(this.flight, this.lanes);
    this.pipeline = this.#newPipeline();
    this.#observe();
    this.#server = setInterval(() => this.stream.serve(), 10);
  }

  /** Plays the scenario's steps. */
  async play(): Promise<void> {
    for (const { kind, key, ms } of this.#scenario.steps) {
      if (kind === "publish") this.stream.store(`events.${key}`);
      if (kind === "hurry") this.stream.hurry(ms);
      if (kind === "disconnect") this.disconnect();
      if (kind === "reconnect") this.stream.reconnect();
      if (kind === "resume") this.pipeline.resume();
      if (kind === "kill") this.kill();
      if (kind === "new consumer") this.stream.recreateConsumer();
      if (kind === "new stream") this.recreateStream();
      if (kind === "pass") await this.pass(ms);
    }
  }

  /** Lets time go by; the consumer is read now and then, as the runner does. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      await vi.advanceTimersByTimeAsync(Math.min(left, 500));
      if (this.#watch.see(this.stream.reading(), 0)) this.pipeline.changed();
      // What an ordered lane misses is asked for room or not, and held messages come back on top of what is here.
      const room = 2 * maxMessages + this.#scenario.batchSize;
      if (this.flight.messages > room) this.broken.push(`${this.flight.messages} messages in the flight`);
    }
  }

  /** Everything works again: how long it takes until all is settled, or null when it never ends. */
  async recover(): Promise<number | null> {
    this.destination.recover();
    this.letters.beforePublish = () => undefined;
    this.stream.reconnect();
    for (let round = 0; round < 400; round += 1) {
      if (this.stream.isDone && this.flight.size === 0 && this.pipeline.activeWrites === 0) return round;
      this.pipeline.resume();
      await this.pass(500);
    }
    return null;
  }

  disconnect(): void {
    this.stream.disconnect();
    this.pipeline.redeliveries.begin();
  }

  recreateStream(): void {
    this.stream.recreateStream();
    this.destination.beginStream(this.stream.streamCreatedAt);
  }

  /** The process dies as by SIGKILL, with its writes, and another one takes over. */
  kill(): void {
    this.leaving.abort();
    this.pipeline.dispose();
    this.destination.kill();
    this.stream.hangUp();
    this.#writing.clear();
    this.flight = new Flight();
    this.lanes = this.#newLanes();
    this.leaving = new AbortController();
    this.#watch = new ConsumerWatch(this.flight, this.lanes);
    this.#watch.see(this.stream.reading(), 0);
    this.pipeline = this.#newPipeline();
    if (this.stream.reading().num_ack_pending > 0) this.pipeline.redeliveries.begin();
    this.pipeline.changed();
  }

  dispose(): void {
    this.leaving.abort();
    this.pipeline.dispose();
    clearInterval(this.#server);
    vi.clearAllTimers();
  }

  /** Sequences of this stream that the dead-letter stream has. */
  get condemned(): Set<number> {
    const records = [...this.letters.entries.values()].map(
      ({ body }) => JSON.parse(body) as { stream_sequence: number; stream_created_at: string },
    );
    return new Set(
      records.filter((record) => record.stream_created_at === this.stream.streamCreatedAt).map((record) => record.stream_sequence),
    );
  }

  #key(subject: string): string {
    return this.#scenario.ordering === "strict" ? "" : subject;
  }

  #newLanes(): FreeLanes | OrderedLanes {
    if (!this.#settings.ordered) return new FreeLanes();
    return new OrderedLanes((entry) => this.#key(entry.envelope?.subject ?? ""), this.#scenario.wholeLane);
  }

  #observe(): void {
    const { stream, destination, letters, broken } = this;
    stream.deliver = (message, position, bytes, epoch) => this.pipeline.receive(message, position, bytes, epoch);
    stream.epochChanged = (epoch) => this.pipeline.beginEpoch(epoch);
    stream.roomChanged = () => this.pipeline.changed();
    stream.settled = (sequence, verb) => {
      if (!destination.stored.has(sequence) && !this.condemned.has(sequence)) broken.push(`${verb} ${sequence} with nothing stored`);
    };
    destination.onStored = (sequence) => this.#checkOrder(sequence);
    destination.onBegin = (messages) => this.#begin(messages);
    destination.onEnd = (messages) => this.#finish(messages);
    const answers = [...this.#scenario.letters];
    letters.beforePublish = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (answers.shift() === false) throw new Error("no responders");
    };
  }

  #begin(messages: readonly Envelope[]): void {
    const { batchSize } = this.#settings.batcher;
    if (messages.length === 0 || messages.length > batchSize) this.broken.push(`a batch of ${messages.length}`);
    if (!this.#settings.ordered) return;
    for (const key of new Set(messages.map(({ subject }) => this.#key(subject)))) {
      if (this.#writing.has(key)) this.broken.push(`two writers of ${key}`);
      this.#writing.add(key);
    }
  }

  #finish(messages: readonly Envelope[]): void {
    for (const { subject } of messages) this.#writing.delete(this.#key(subject));
  }

  /**
   * In an ordered pipeline a message is stored after every earlier one of its key, or after that one was condemned. Once the
   * server has given up messages at the delivery limit it counts fewer than are here, and what is missing cannot be told.
   */
  #checkOrder(sequence: number): void {
    const { stream, destination } = this;
    if (!this.#settings.ordered || stream.exceeded.size > 0) return;
    const key = this.#key(stream.subjectOf(sequence));
    for (let earlier = 1; earlier < sequence; earlier += 1) {
      if (this.#key(stream.subjectOf(earlier)) !== key) continue;
      const decided = destination.stored.has(earlier) || destination.refused.has(earlier) || this.condemned.has(earlier);
      if (!decided) this.broken.push(`${sequence} stored before ${earlier}`);
    }
  }

  #newPipeline(): Pipeline {
    const { stream, letters, flight, lanes, leaving } = this;
    const settings = this.#settings;
    return new Pipeline({
      source: stream.source,
      flight,
      lanes,
      settings,
      settlement: new Settlement(stream, { mode: this.#scenario.mode, confirmTimeoutMs: 200 }, silentTelemetry, leaving.signal),
      counters: newCounters(),
      deadLetters: this.#scenario.deadLetters
        ? new DeadLetters(
            letters,
            { subject: "dlq", stream: null, domain: null, maxBytes: null, maxInFlight: 2, waitMs: () => settings.retry.baseMs },
            silentTelemetry,
          )
        : null,
      massRejection: null,
      deadLetterContent: { includePayload: true, includeHeaders: true, includeError: true, format: "json", oversize: "chunk" },
      acknowledged: () => undefined,
      sinkName: "orders",
      telemetry: silentTelemetry,
      now: () => Math.trunc(performance.now()),
      nowNs: () => BigInt(Date.now()) * 1_000_000n,
      random: () => 0.5,
      signal: leaving.signal,
      sink: () => this.destination,
      renewSink: async () => undefined,
      gate: null,
      originOf: ({ streamCreatedAt }) =>
        createEnvelopeOrigin({ stream: "EVENTS", consumer: "sink", domain: null, account: null, streamCreatedAt }),
    });
  }
}

function settingsOf(scenario: Scenario): PipelineSettings {
  const ordered = scenario.ordering !== "none";
  return pipelineSettingsOf({
    batcher: { batchSize: scenario.batchSize, batchMaxBytes: 10 * messageBytes, lingerMs: 0 },
    slots: scenario.ordering === "strict" ? 1 : scenario.slots,
    maxMessages,
    maxBytes: 100 * messageBytes,
    minimumPullBytes: messageBytes,
    retry: { mode: "exponential", baseMs: 50, maxMs: 400, multiplier: 2, jitter: "none" },
    probe: { mode: "exponential", baseMs: 20, maxMs: 200, multiplier: 2, jitter: "none" },
    verdict: verdictPolicy({
      ordered,
      deadLetters: scenario.deadLetters,
      onPoison: scenario.onPoison,
      onUnknown: scenario.onUnknown,
      temporaryAction: scenario.temporaryAction,
      maxRetries: scenario.maxRetries,
      maxDeliver: scenario.maxDeliver,
    }),
    deadlines: { ackWaitMs, backoffMs: [], maxDeliver: scenario.maxDeliver, maxAckPending: 1000 },
    heartbeat: { enabled: true, intervalMs: 5000, maxBeats: Number.POSITIVE_INFINITY },
    maxLeaseMs: 1200,
    abortGraceMs: 300,
    maxParked: 5,
  });
}

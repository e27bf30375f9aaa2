import type { Sink } from "../connector/sink.js";
import { hasOrderedBatches } from "../connector/abilities.js";
import type { Configuration } from "../config/schema.js";
import { createEnvelopeOrigin, type EnvelopeOrigin } from "../envelope/envelope-origin.js";
import { compileMessageMetadata } from "../envelope/message-metadata.js";
import { SinksError } from "../error/errors.js";
import { silentTelemetry, type Telemetry } from "../telemetry/port.js";
import type { Epoch } from "../source/epoch.js";
import { JetStreamSource } from "../source/jetstream-source.js";
import type { Link } from "../source/link.js";
import { pause } from "../source/pause.js";
import { publishWithId, streamHolds, streamOfSubject } from "../source/publication.js";
import { type Clock, systemClock } from "./clock.js";
import { ConsumerWatch } from "./consumer-watch.js";
import { newCounters } from "./counters.js";
import { DeadLetters } from "./dead-letter.js";
import { Flight } from "./flight.js";
import { healthReasons } from "./health.js";
import { FreeLanes, type Lanes, OrderedLanes } from "./lanes.js";
import { laneKey } from "./lane-key.js";
import { type OnceProgress, onceProgress } from "./once-goal.js";
import { Pipeline } from "./pipeline.js";
import { type PipelineSettings, longestDeadline, pipelineSettings, retryPolicy } from "./pipeline-settings.js";
import type { RunSummary, Runner, RunnerOptions, RunnerStatus } from "./runner-contract.js";
import { Settlement } from "./settle.js";
import { type StartInput, checkedConfiguration, connectAtStart, preflight, startSink, stopQuietly } from "./start.js";
import { stopPipeline } from "./stop.js";

const watchMs = 2000;
const onceMs = 50;
const publishTimeoutMs = 5000;
/** Messages a lane waits for that are looked up in the stream at one look. */
const awaitedChecks = 10;

/** Builds a runner; validates the configuration and touches nothing (FW-RUN-01). Throws `ConfigurationError`. */
export function createRunner(options: RunnerOptions, clock: Clock = systemClock): Runner {
  return new JetStreamRunner(options, checkedConfiguration(options.configuration), clock);
}

/** Everything that exists between a start and a stop. */
interface Running {
  readonly configuration: Configuration;
  readonly settings: PipelineSettings;
  readonly source: JetStreamSource;
  readonly pipeline: Pipeline;
  readonly flight: Flight;
  readonly lanes: Lanes;
  readonly watch: ConsumerWatch;
  readonly leaving: AbortController;
  readonly goal: number;
}

/**
 * The life of a pipeline: created, starting, running, stopping, stopped. Whatever start has begun is ended in reverse
 * order when a later step fails, and once by `stop`, whoever asks for it.
 */
class JetStreamRunner implements Runner {
  readonly #options: RunnerOptions;
  readonly #configuration: Configuration;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #counters = newCounters();
  readonly #stopped = new AbortController();
  #state: RunnerStatus["state"] = "created";
  #sink: Sink | null = null;
  #running: Running | null = null;
  #missing: "stream" | "consumer" | null = null;
  #failure: string | null = null;
  #startedAt = 0;
  #endedAt: number | null = null;
  #stopping: Promise<void> | null = null;

  constructor(options: RunnerOptions, configuration: Configuration, clock: Clock) {
    this.#options = options;
    this.#configuration = configuration;
    this.#clock = clock;
    this.#telemetry = options.telemetry ?? silentTelemetry;
  }

  get #sinkName(): string {
    return this.#options.sinkName ?? this.#configuration.sink.type;
  }

  async start(signal: AbortSignal = new AbortController().signal): Promise<void> {
    if (this.#state !== "created") throw new SinksError(`a runner starts once; this one is ${this.#state}`);
    this.#state = "starting";
    this.#startedAt = this.#clock.now();
    const input = this.#startInput(signal);
    let link: Link | null = null;
    try {
      const connected = await connectAtStart(input);
      link = connected.link;
      await preflight(connected.configuration, link, this.#telemetry);
      this.#sink = await startSink(input, this.#options.createSink, this.#sinkName);
      this.#running = await this.#assemble(connected.configuration, link, input);
      this.#state = "running";
      this.#telemetry.log("info", "ready", { stream: this.#configuration.nats.stream, consumer: this.#configuration.nats.consumer });
    } catch (error) {
      this.#state = "stopped";
      if (this.#sink !== null) await stopQuietly(this.#sink, this.#telemetry);
      await link?.connection.close();
      throw error;
    }
  }

  async run(signal: AbortSignal = new AbortController().signal): Promise<RunSummary> {
    const running = this.#running;
    if (running === null) throw new SinksError(`a runner runs after its start; this one is ${this.#state}`);
    running.source.start();
    running.pipeline.changed();
    await this.#untilEnd(running, signal);
    await this.stop();
    return this.#summary();
  }

  stop(): Promise<void> {
    this.#stopped.abort();
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  resume(): void {
    this.#running?.pipeline.resume();
  }

  status(): RunnerStatus {
    const { received, stored, deadLettered, retried } = this.#counters;
    const flight = this.#running?.flight;
    const reasons = this.#reasons();
    return {
      state: this.#state,
      healthy: reasons.length === 0,
      reasons,
      received,
      stored,
      deadLettered,
      retried,
      held: flight?.held ?? 0,
      inFlight: flight?.messages ?? 0,
      bytesInFlight: flight?.bytes ?? 0,
      lag: this.#running?.pipeline.lag ?? null,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #startInput(signal: AbortSignal): StartInput {
    return {
      configuration: this.#configuration,
      environment: this.#options.environment ?? {},
      telemetry: this.#telemetry,
      clock: this.#clock,
      signal: AbortSignal.any([signal, this.#stopped.signal]),
    };
  }

  async #assemble(configuration: Configuration, link: Link, input: StartInput): Promise<Running> {
    const settings = pipelineSettings(configuration, link.bound.consumer, link.maxPayload);
    const leaving = new AbortController();
    const flight = new Flight();
    const lanes = this.#lanes(settings);
    const watch = new ConsumerWatch(flight, lanes);
    const source: JetStreamSource = new JetStreamSource(configuration, link, this.#telemetry, {
      delivered: (message, position, bytes, epoch) => pipeline.receive(message, position, bytes, epoch),
      roomChanged: () => pipeline.changed(),
      connection: (connected) => this.#telemetry.log(connected ? "info" : "warn", connected ? "connected again" : "connection lost"),
      missing: (what) => this.#reportMissing(what),
      epochChanged: (epoch) => pipeline.beginEpoch(epoch),
      consumerSeen: (consumer) => void (watch.see(consumer, source.openPulls) && pipeline.changed()),
      oversized: () => pipeline.oversized(),
      failed: (reason) => this.#fail(reason),
      ackedBelow: () => watch.ackFloor,
    }, this.#clock.now);
    const settlement = new Settlement(ackPort(source), settleSettings(configuration), this.#telemetry, leaving.signal);
    const pipeline: Pipeline = new Pipeline({
      source,
      flight,
      lanes,
      settlement,
      settings,
      counters: this.#counters,
      deadLetters: this.#deadLetters(configuration, source),
      deadLetterContent: {
        includePayload: configuration.dead_letter.include_payload,
        includeHeaders: configuration.dead_letter.include_headers,
        includeError: configuration.dead_letter.include_error,
      },
      sinkName: this.#sinkName,
      telemetry: this.#telemetry,
      now: this.#clock.now,
      nowNs: this.#clock.nowNs,
      random: this.#clock.random,
      signal: leaving.signal,
      sink: () => this.#sink as Sink,
      renewSink: () => this.#renewSink(input),
      originOf: (epoch) => originOf(configuration, epoch),
    });
    const { consumer } = link.bound;
    watch.see(consumer, consumer.num_waiting);
    if (lanes instanceof OrderedLanes && consumer.num_ack_pending > 0) lanes.barrier = consumer.delivered.stream_seq;
    return { configuration, settings, lanes, source, pipeline, flight, watch, leaving, goal: link.bound.stream.state.last_seq };
  }

  #lanes(settings: PipelineSettings): Lanes {
    if (!settings.ordered) return new FreeLanes();
    const { ordering, order_key } = this.#configuration.delivery;
    return new OrderedLanes(laneKey(ordering === "strict" ? "strict" : "per_key", order_key), hasOrderedBatches(this.#sink as Sink));
  }

  #deadLetters(configuration: Configuration, source: JetStreamSource): DeadLetters | null {
    const { enabled, subject, stream, max_in_flight } = configuration.dead_letter;
    if (!enabled || subject === null) return null;
    return new DeadLetters(
      {
        publish: (target, body, headers, id) => publishWithId(source.link.client, target, body, headers, id, publishTimeoutMs),
        streamOf: (target) => streamOfSubject(source.link.manager, target),
        holds: (target, sequence) => streamHolds(source.link.manager, target, sequence),
      },
      { subject, stream, maxInFlight: max_in_flight, backoff: retryPolicy(configuration) },
      this.#telemetry,
      this.#clock.random,
    );
  }

  async #renewSink(input: StartInput): Promise<void> {
    const old = this.#sink as Sink;
    await stopQuietly(old, this.#telemetry);
    const fresh = this.#options.createSink();
    this.#sink = fresh;
    await fresh.start({ name: this.#sinkName, telemetry: this.#telemetry, signal: input.signal });
  }

  /** Resolves at a stop, an abort, a failure, or the goal of `once`. */
  async #untilEnd(running: Running, signal: AbortSignal): Promise<void> {
    const end = AbortSignal.any([signal, this.#stopped.signal]);
    const once = this.#options.once === true;
    const until = this.#clock.now() + (this.#options.onceTimeoutMs ?? Number.POSITIVE_INFINITY);
    let lookAt = 0;
    while (!end.aborted && this.#failure === null) {
      const now = this.#clock.now();
      if (now >= lookAt) {
        lookAt = now + (once ? onceMs : watchMs);
        if ((await this.#look(running)) && once && this.#onceEnds(running)) return;
        if (once && this.#clock.now() >= until) return this.#fail(`timed out after ${this.#options.onceTimeoutMs} ms`);
      }
      await pause(Math.min(onceMs, Math.max(1, lookAt - this.#clock.now())), end);
    }
  }

  /** Reads the consumer. True when there is a reading. */
  async #look(running: Running): Promise<boolean> {
    if (!running.source.connected) return false;
    try {
      const consumer = await running.source.readConsumer();
      if (consumer === null) {
        running.source.doubt("consumer missing");
        return false;
      }
      if (running.watch.see(consumer, running.source.openPulls)) running.pipeline.changed();
      await this.#lookAtLanes(running);
      return true;
    } catch {
      this.#telemetry.log("debug", "consumer could not be read");
      return false;
    }
  }

  /** Lanes do not wait for what cannot come: a message that left the stream, or deliveries of a process long gone (FW-RUN-13). */
  async #lookAtLanes({ lanes, source, pipeline, settings }: Running): Promise<void> {
    if (!(lanes instanceof OrderedLanes) || !lanes.isWaiting) return;
    const since = Math.max(pipeline.redeliveredAt, this.#startedAt);
    if (lanes.barrier !== null && this.#clock.now() - since > longestDeadline(settings.deadlines)) lanes.barrier = null;
    for (const sequence of lanes.awaited().slice(0, awaitedChecks)) {
      if ((await source.holds(sequence)) !== false) continue;
      this.#telemetry.count("awaited_messages_gone_total");
      lanes.giveUp(sequence);
    }
    pipeline.changed();
  }

  #onceEnds(running: Running): boolean {
    if (running.pipeline.pausedReason !== null) {
      this.#fail(`paused: ${running.pipeline.pausedReason}`);
      return true;
    }
    const progress: OnceProgress = onceProgress(this.#onceFacts(running));
    if (progress === "held") this.#fail(`${running.flight.held} messages are held, the oldest at sequence ${oldestHeld(running.flight)}`);
    return progress !== "under_way";
  }

  #onceFacts({ goal, watch, flight }: Running): Parameters<typeof onceProgress>[0] {
    const info = watch.newest;
    return {
      goal,
      ackFloor: info?.ack_floor.stream_seq ?? 0,
      pending: info?.num_pending ?? 0,
      ackPending: info?.num_ack_pending ?? 0,
      unsettledHere: flight.messages,
      heldHere: flight.held,
    };
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    if (this.#state === "created") this.#state = "stopped";
    if (running === null || this.#state === "stopped") return;
    this.#state = "stopping";
    this.#endedAt = this.#clock.now();
    await stopPipeline(running, this.#clock, this.#telemetry);
    if (this.#sink !== null) await stopQuietly(this.#sink, this.#telemetry);
    await running.source.dispose();
    this.#state = "stopped";
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
  }

  #reportMissing(what: "stream" | "consumer" | null): void {
    this.#missing = what;
    if (what === null) this.#telemetry.log("info", "consumer is there again");
    else this.#telemetry.log("error", `${what} is missing`, { stream: this.#configuration.nats.stream, consumer: this.#configuration.nats.consumer });
    if (what !== null && this.#options.once === true) this.#fail(`the ${what} went missing under way`);
  }

  #reasons(): readonly string[] {
    const running = this.#running;
    if (running === null) return [];
    const { pipeline, source, flight, watch, settings } = running;
    const window = settings.deadlines.maxAckPending;
    return healthReasons({
      connected: source.connected,
      missing: this.#missing,
      paused: pipeline.pausedReason,
      breakerOpen: pipeline.outage !== null,
      breakerCode: pipeline.outage?.code ?? null,
      held: flight.held,
      oldestHeld: oldestHeld(flight),
      heldLimit: window === null ? null : window / 2,
      windowFull: watch.windowFull,
      stuckWrites: pipeline.stuckWrites,
      secondClient: settings.ordered && source.link.group === null && watch.secondClient,
    });
  }

  #summary(): RunSummary {
    const { received, stored, deadLettered, retried, heldTotal } = this.#counters;
    const seconds = ((this.#endedAt ?? this.#clock.now()) - this.#startedAt) / 1000;
    return { received, stored, deadLettered, retried, held: heldTotal, seconds, complete: this.#failure === null, reason: this.#failure };
  }
}

function originOf(configuration: Configuration, epoch: Epoch): EnvelopeOrigin {
  return createEnvelopeOrigin({
    stream: configuration.nats.stream,
    consumer: configuration.nats.consumer,
    domain: configuration.nats.domain,
    account: configuration.idempotency.account,
    streamCreatedAt: epoch.streamCreatedAt,
    messageMetadata: compileMessageMetadata(configuration.message_metadata),
  });
}

function settleSettings({ delivery }: Configuration): ConstructorParameters<typeof Settlement>[1] {
  return { mode: delivery.ack_mode, confirmTimeoutMs: delivery.ack_confirmation.timeout_ms };
}

function ackPort(source: JetStreamSource): ConstructorParameters<typeof Settlement>[0] {
  return {
    get connected() {
      return source.connected;
    },
    get generation() {
      return source.generation;
    },
    get epochNumber() {
      return source.epoch.current.number;
    },
    get trusted() {
      return source.epoch.trusted;
    },
    publish: (subject, verb) => source.publish(subject, verb),
    confirm: (subject, verb, timeoutMs) => source.confirm(subject, verb, timeoutMs),
    whenSettling: (signal) => source.whenSettling(signal),
  };
}

function oldestHeld(flight: Flight): string | null {
  for (const entry of flight.entries()) if (entry.state === "held") return String(entry.sequence);
  return null;
}

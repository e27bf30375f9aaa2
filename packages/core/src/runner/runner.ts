import { pipelineName } from "../config/pipeline-name.js";
import type { Configuration } from "../config/schema.js";
import { validateConfiguration } from "../config/validate.js";
import type { Sink } from "../connector/sink.js";
import { SinksError } from "../error/errors.js";
import type { Link } from "../source/link.js";
import { pause } from "../source/pause.js";
import type { SequenceNumber } from "../source/sequence.js";
import { guardTelemetry } from "../telemetry/guarded.js";
import { silentTelemetry, type Telemetry } from "../telemetry/port.js";
import { assemble, type Running } from "./assemble.js";
import { type Clock, systemClock } from "./clock.js";
import { newCounters } from "./counters.js";
import { healthReasons } from "./health.js";
import { OnceRun } from "./once-run.js";
import { longestDeadline } from "./pipeline-settings.js";
import type { Runner, RunnerOptions, RunnerStatus, RunSummary } from "./runner-contract.js";
import { startLimit, startWithin, stopLimit, stopQuietly } from "./sink-life.js";
import { connectAtStart, preflight, type StartInput, startSink, untilReachable } from "./start.js";
import { stopPipeline } from "./stop.js";
import { findStranded } from "./stranded-at-start.js";

const watchMs = 2000;
/** Time between looks while ordered lanes wait. */
const waitingMs = 100;
/** Time one look may take before the next is due all the same. */
const lookLimitMs = 10_000;
/** Time beyond the longest deadline in which a redelivery may still arrive. */
const redeliveryGraceMs = 3000;
const onceMs = 50;
/** Time that the last mark of messages out of deliveries may take at a stop. */
const markLimitMs = 2000;
/** Messages a lane waits for that are looked up in the stream at one look. */
const awaitedChecks = 10;

/** Builds a runner; validates the configuration and touches nothing (FW-RUN-01). Throws `ConfigurationError`. */
export function createRunner(options: RunnerOptions, clock: Clock = systemClock): Runner {
  return new JetStreamRunner(options, validateConfiguration(options.configuration), clock);
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
  readonly #failed = new AbortController();
  #state: RunnerStatus["state"] = "created";
  #sink: Sink | null = null;
  #running: Running | null = null;
  #missing: "stream" | "consumer" | null = null;
  #failure: string | null = null;
  #startedAt = 0;
  /** Since when ordered lanes wait for deliveries that are not here. */
  #waitingSince: number | null = null;
  #endedAt: number | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;

  constructor(options: RunnerOptions, configuration: Configuration, clock: Clock) {
    this.#options = options;
    this.#configuration = configuration;
    this.#clock = clock;
    this.#telemetry = options.telemetry === undefined ? silentTelemetry : guardTelemetry(options.telemetry);
  }

  get #sinkName(): string {
    return this.#options.sinkName ?? this.#configuration.sink.type;
  }

  async start(signal: AbortSignal = new AbortController().signal): Promise<void> {
    if (this.#state !== "created") throw new SinksError(`a runner starts once; this one is ${this.#state}`);
    this.#state = "starting";
    this.#startedAt = this.#clock.now();
    const { onceTimeoutMs } = this.#options;
    const limit = onceTimeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(onceTimeoutMs)]);
    this.#starting = this.#startInOrder(this.#startInput(limit));
    await this.#starting;
  }

  async #startInOrder(input: StartInput): Promise<void> {
    let link: Link | null = null;
    try {
      const connected = await connectAtStart(input);
      link = connected.link;
      await preflight(connected.configuration, link, this.#telemetry);
      this.#sink = await startSink(input, this.#options.createSink, this.#sinkName);
      if (input.signal.aborted) throw new SinksError("the start was given up");
      const stranded = await untilReachable(input, () => findStranded(connected.configuration, connected.link, this.#telemetry));
      this.#running = assemble({
        configuration: connected.configuration,
        link,
        stranded,
        sinkName: this.#sinkName,
        sink: () => this.#sink as Sink,
        renewSink: () => this.#renewSink(input),
        telemetry: this.#telemetry,
        clock: this.#clock,
        counters: this.#counters,
        missing: (what) => this.#reportMissing(what),
        failed: (reason) => this.#fail(reason),
      });
      this.#state = "running";
    } catch (error) {
      this.#state = "stopped";
      if (this.#sink !== null) await stopQuietly(this.#sink, this.#telemetry, stopLimit(this.#configuration));
      await link?.connection.close();
      throw error;
    }
  }

  async run(signal: AbortSignal = new AbortController().signal): Promise<RunSummary> {
    const running = this.#running;
    if (running === null || this.#state !== "running") throw new SinksError(`a runner runs after its start; this one is ${this.#state}`);
    running.source.start();
    // Said only now: a start alone pulls nothing.
    this.#telemetry.log("info", "ready", { stream: this.#configuration.nats.stream, consumer: this.#configuration.nats.consumer });
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
    this.#running?.massRejection?.reset();
    this.#running?.pipeline.resume();
  }

  status(): RunnerStatus {
    const { received, stored, deadLettered, retried } = this.#counters;
    const flight = this.#running?.flight;
    const reasons = this.#reasons();
    return {
      state: this.#state,
      healthy: reasons.length === 0,
      ready: this.#state === "running" && reasons.length === 0 && (this.#running?.source.fetchFacts.live ?? false),
      reasons,
      received,
      stored,
      deadLettered,
      retried,
      held: flight?.held ?? 0,
      inFlight: flight?.messages ?? 0,
      bytesInFlight: flight?.bytes ?? 0,
      lag: this.#running?.pipeline.lag ?? null,
      ackPending: this.#running?.watch.newest?.num_ack_pending ?? null,
      oldestUnsettledMs: flight?.oldestAge(this.#clock.now()) ?? 0,
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

  /** The old sink stays in its place, stopped, until a fresh one has started. */
  async #renewSink(input: StartInput): Promise<void> {
    await stopQuietly(this.#sink as Sink, this.#telemetry, stopLimit(this.#configuration));
    const fresh = this.#options.createSink();
    try {
      const context = {
        name: this.#sinkName,
        pipeline: pipelineName(this.#configuration, this.#sinkName),
        telemetry: this.#telemetry,
        signal: input.signal,
      };
      await startWithin(fresh, context, startLimit(this.#configuration));
      if (input.signal.aborted) throw new SinksError("the runner stops");
    } catch (error) {
      await stopQuietly(fresh, this.#telemetry, stopLimit(this.#configuration));
      throw error;
    }
    this.#sink = fresh;
  }

  /** Resolves at a stop, an abort, a failure, or the end of a `once` run. */
  async #untilEnd(running: Running, signal: AbortSignal): Promise<void> {
    const end = AbortSignal.any([signal, this.#stopped.signal, this.#failed.signal]);
    const once = this.#options.once === true ? this.#onceRun(running) : null;
    const until = this.#clock.now() + (this.#options.onceTimeoutMs ?? Number.POSITIVE_INFINITY);
    const everyMs = (): number => (once !== null ? onceMs : running.lanes.isWaiting ? waitingMs : watchMs);
    while (!end.aborted) {
      const seen = await withinLimit(this.#look(running), end);
      const progress = seen ? once?.look() : undefined;
      if (progress?.ended) {
        if (progress.reason !== null) this.#fail(progress.reason);
        return;
      }
      if (once !== null && this.#clock.now() >= until) return this.#fail(`timed out after ${this.#options.onceTimeoutMs} ms`);
      await pause(everyMs(), end);
    }
  }

  #onceRun({ goal, flight, watch, settings, pipeline, recovery }: Running): OnceRun {
    const parts = { goal, flight, watch, deadlines: settings.deadlines };
    return new OnceRun({ ...parts, pausedReason: () => pipeline.pausedReason, recovering: () => recovery.pending }, this.#clock);
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
      if (running.see(consumer)) running.pipeline.changed();
      await this.#lookAtLanes(running);
      return true;
    } catch {
      this.#telemetry.log("debug", "consumer could not be read");
      return false;
    }
  }

  /** Lanes do not wait for what cannot come: a message that left the stream, or deliveries of a process long gone (FW-RUN-13). */
  async #lookAtLanes({ lanes, source, pipeline, settings, watch }: Running): Promise<void> {
    for (const sequence of watch.takeGivenUp().slice(0, awaitedChecks)) await this.#countGone(source, sequence);
    this.#waitingSince = lanes.isWaiting ? (this.#waitingSince ?? this.#clock.now()) : null;
    if (!lanes.isWaiting) return;
    const waited = this.#clock.now() - pipeline.redeliveries.since;
    if (source.openPulls > 0 && waited > longestDeadline(settings.deadlines) + redeliveryGraceMs) lanes.goOn();
    for (const sequence of lanes.awaited().slice(0, awaitedChecks)) {
      if (await this.#countGone(source, sequence)) lanes.giveUp(sequence);
    }
    pipeline.changed();
  }

  async #countGone({ stored }: Running["source"], sequence: SequenceNumber): Promise<boolean> {
    const gone = (await stored.holds(sequence)) === false;
    if (gone) this.#telemetry.count("awaited_messages_gone_total");
    return gone;
  }

  async #stop(): Promise<void> {
    // A start under way notices the stop and cleans up behind itself; whoever started it is told why it failed.
    await this.#starting?.catch(() => undefined);
    const running = this.#running;
    if (this.#state === "created") this.#state = "stopped";
    if (running === null || this.#state === "stopped") return;
    this.#state = "stopping";
    this.#endedAt = this.#clock.now();
    const clean = await stopPipeline(running, this.#clock, this.#telemetry);
    if (!clean) this.#fail("a write did not end; its messages are left to redelivery");
    if (this.#sink !== null) await stopQuietly(this.#sink, this.#telemetry, stopLimit(this.#configuration));
    if (running.source.connected)
      await withinLimit(
        running.recovery.close().then(() => true),
        AbortSignal.timeout(markLimitMs),
      );
    await running.source.dispose();
    this.#state = "stopped";
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#failed.abort();
  }

  #reportMissing(what: "stream" | "consumer" | null): void {
    this.#missing = what;
    if (what === null) this.#telemetry.log("info", "consumer is there again");
    else
      this.#telemetry.log("error", `${what} is missing`, {
        stream: this.#configuration.nats.stream,
        consumer: this.#configuration.nats.consumer,
      });
    if (what !== null && this.#options.once === true) this.#fail(`the ${what} went missing under way`);
  }

  #reasons(): readonly string[] {
    const running = this.#running;
    if (running === null) return [];
    const { pipeline, source, flight, watch, settings, settlement, deadLetters } = running;
    const window = settings.deadlines.maxAckPending;
    return healthReasons({
      connected: source.connected,
      fetching: source.fetchFacts,
      missing: this.#missing,
      interestOnly: running.interestOnly,
      drift: watch.drift,
      unconfirmed: settlement.unconfirmed,
      failingDeadLetters: deadLetters?.failing ?? 0,
      paused: pipeline.pausedReason,
      breakerError: pipeline.outage,
      held: flight.held,
      oldestHeld: flight.oldestHeld,
      heldLimit: window === null ? null : window / 2,
      windowFull: watch.windowFull,
      stuckWrites: pipeline.stuckWrites,
      waitingFull: watch.waitingFull,
      orderWaitMs: this.#waitingSince === null ? 0 : this.#clock.now() - this.#waitingSince,
      awaited: running.lanes.missing,
      secondClient: settings.ordered && source.link.group === null && watch.secondClient,
    });
  }

  #summary(): RunSummary {
    const { received, stored, deadLettered, discarded, retried, held } = this.#counters;
    const seconds = ((this.#endedAt ?? this.#clock.now()) - this.#startedAt) / 1000;
    const complete = this.#failure === null;
    return { received, stored, deadLettered, discarded, retried, held, seconds, complete, reason: this.#failure };
  }
}

/** A server that does not answer must not keep a stop waiting; a look that is too late counts as none. */
async function withinLimit(look: Promise<boolean>, end: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  end.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([look, pause(lookLimitMs, over.signal).then(() => false)]);
  } finally {
    end.removeEventListener("abort", stop);
    over.abort();
  }
}

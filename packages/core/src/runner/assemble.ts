import { setMaxListeners } from "node:events";
import type { Configuration } from "../config/schema.js";
import { hasOrderedBatches } from "../connector/abilities.js";
import type { Sink } from "../connector/sink.js";
import { DeadLetters } from "../dead-letter/publisher.js";
import { createEnvelopeOrigin, type EnvelopeOrigin } from "../envelope/envelope-origin.js";
import { compileMessageMetadata } from "../envelope/message-metadata.js";
import { compileSubjectPattern } from "../envelope/subject-pattern.js";
import { compileArrivalGate } from "../gate/arrival-gate.js";
import { type ConsumerState, describeDrift } from "../source/consumer.js";
import { ConsumerMark, markOf } from "../source/consumer-mark.js";
import { filterSubjects } from "../source/consumer-settings.js";
import { deadLetterPort } from "../source/dead-letter-port.js";
import type { Epoch } from "../source/epoch.js";
import { JetStreamSource } from "../source/jetstream-source.js";
import type { Link } from "../source/link.js";
import type { Telemetry } from "../telemetry/port.js";
import { AckedFloor } from "./acked-floor.js";
import { backoffDelay } from "./backoff.js";
import type { Clock } from "./clock.js";
import { ConsumerWatch } from "./consumer-watch.js";
import type { Counters } from "./counters.js";
import { Flight } from "./flight.js";
import { FreeLanes } from "./free-lanes.js";
import { laneKey } from "./lane-key.js";
import type { Lanes } from "./lanes.js";
import { MassRejection } from "./mass-rejection.js";
import { OrderedLanes } from "./ordered-lanes.js";
import { Pipeline } from "./pipeline.js";
import { adoptConsumer, type PipelineSettings, pipelineSettings, retryPolicy } from "./pipeline-settings.js";
import { Recovery } from "./recovery.js";
import { type AckPort, Settlement } from "./settle.js";
import { type StrandedAtStart, StrandedMessages } from "./stranded-messages.js";

/** Everything that exists between a start and a stop. */
export interface Running {
  readonly configuration: Configuration;
  readonly settings: PipelineSettings;
  readonly source: JetStreamSource;
  readonly pipeline: Pipeline;
  readonly flight: Flight;
  readonly lanes: Lanes;
  readonly watch: ConsumerWatch;
  readonly recovery: Recovery;
  readonly settlement: Settlement;
  readonly deadLetters: DeadLetters | null;
  /** Null without `dead_letter.max_ratio`. */
  readonly massRejection: MassRejection | null;
  /** The stream keeps messages only while a consumer wants them. */
  readonly interestOnly: boolean;
  /** Takes a reading of the consumer; true when more may go by it. */
  readonly see: (consumer: ConsumerState) => boolean;
  /** Aborted when the process is about to leave: nothing is waited for any more. */
  readonly leaving: AbortController;
  /** Last sequence of the stream at start; null when it cannot be read. */
  readonly goal: number | null;
}

/** What the parts of a running pipeline are made from. */
export interface AssembleInput {
  /** With its secrets resolved. */
  readonly configuration: Configuration;
  readonly link: Link;
  /** What an earlier process may have left behind. */
  readonly stranded: StrandedAtStart;
  readonly sinkName: string;
  readonly sink: () => Sink;
  readonly renewSink: () => Promise<void>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly missing: (what: "stream" | "consumer" | null) => void;
  readonly failed: (reason: string) => void;
}

/** Puts source, pipeline and what they share together; nothing runs before `source.start()`. */
export function assemble(input: AssembleInput): Running {
  const { configuration, link, telemetry, clock } = input;
  const settings = pipelineSettings(configuration, link.bound.consumer, link.maxPayload);
  const flight = new Flight();
  const lanes = lanesOf(configuration, settings, input.sink());
  const watch = new ConsumerWatch(flight, lanes);
  const leaving = new AbortController();
  // Every batch that waits for its confirmation listens; there may be many, and all end with it.
  setMaxListeners(0, leaving.signal);
  const ackedFloor = configuration.delivery.on_consumer_missing === "recreate" ? new AckedFloor() : null;
  let streamCreatedAt = link.bound.stream?.created ?? null;
  const see = (consumer: ConsumerState): boolean => {
    ackedFloor?.see(consumer.ack_floor);
    adoptConsumer(settings, configuration, consumer);
    // A stream that was made again has another consumer, too: no ack goes out before both were read.
    if (source.epoch.trusted && consumer.created !== source.epoch.current.consumerCreatedAt) source.doubt("another consumer");
    const wentOn = watch.see(consumer, source.openPulls, describeDrift(configuration, source.link.group, consumer));
    recovery.see(lanes.elsewhere, markOf(consumer));
    return wentOn;
  };
  const source: JetStreamSource = new JetStreamSource(
    configuration,
    link,
    telemetry,
    {
      delivered: (message, position, bytes, epoch) => {
        recovery.came(position.sequence);
        pipeline.receive(message, position, bytes, epoch);
      },
      givenUp: (sequence) => recovery.reached(sequence),
      roomChanged: () => pipeline.changed(),
      connection: (connected) => {
        telemetry.log(connected ? "info" : "warn", connected ? "connected again" : "connection lost");
        telemetry.count(connected ? "nats_connection_reconnected_total" : "nats_connection_disconnected_total");
        if (!connected) pipeline.redeliveries.begin();
      },
      pinned: () => pipeline.redeliveries.begin(),
      missing: input.missing,
      epochChanged: (epoch) => {
        const sameStream = epoch.streamCreatedAt === streamCreatedAt;
        ackedFloor?.reset(sameStream);
        streamCreatedAt = epoch.streamCreatedAt;
        recovery.reset(sameStream);
        pipeline.beginEpoch(epoch);
      },
      consumerSeen: (consumer) => {
        if (see(consumer)) pipeline.changed();
      },
      oversized: () => pipeline.oversized(),
      failed: input.failed,
      beforeRecreation: () => ({ ackedBelow: ackedFloor?.sequence ?? 0, mark: stranded.mark }),
    },
    clock.now,
  );
  const { ack_mode: mode, ack_confirmation: confirmation } = configuration.delivery;
  const settlement = new Settlement(ackPort(source), { mode, confirmTimeoutMs: confirmation.timeout_ms }, telemetry, leaving.signal);
  const deadLetters = deadLettersOf(configuration, source, telemetry, clock);
  const { max_ratio: maxRatio } = configuration.dead_letter;
  const massRejection = maxRatio === null ? null : new MassRejection(maxRatio, clock.now);
  const pipeline: Pipeline = new Pipeline({
    source,
    flight,
    lanes,
    settings,
    acknowledged: (entries) => {
      ackedFloor?.add(entries);
      recovery.settled(entries);
    },
    settlement,
    counters: input.counters,
    deadLetters,
    massRejection,
    deadLetterContent: {
      includePayload: configuration.dead_letter.include_payload,
      includeHeaders: configuration.dead_letter.include_headers,
      includeError: configuration.dead_letter.include_error,
      format: configuration.dead_letter.format,
      oversize: configuration.dead_letter.oversize,
    },
    sinkName: input.sinkName,
    telemetry,
    now: clock.now,
    nowNs: clock.nowNs,
    random: clock.random,
    signal: leaving.signal,
    sink: input.sink,
    renewSink: input.renewSink,
    gate: compileArrivalGate(configuration, telemetry),
    originOf: (epoch) => originOf(configuration, epoch),
  });
  const { consumer, stream } = link.bound;
  const mark = new ConsumerMark(
    configuration,
    () => source.link,
    () => source.epoch.current.consumerCreatedAt,
  );
  const stranded = new StrandedMessages(mark, telemetry, clock.now, leaving.signal);
  const recovery: Recovery = new Recovery({
    flight,
    stranded,
    stored: source.stored,
    sink: input.sink,
    telemetry,
    entryOf: (message) => pipeline.entryOf(message),
    admit: (entry) => pipeline.admit(entry),
    acknowledge: (entries) => settlement.acknowledge(entries),
    wanted: anyOf(filterSubjects(configuration)),
    ordered: settings.ordered,
    room: () => settings.maxMessages,
    now: clock.now,
    signal: leaving.signal,
  });
  recovery.begin(input.stranded);
  watch.see(consumer, consumer.num_waiting, null);
  ackedFloor?.see(consumer.ack_floor);
  // Deliveries of a process that is gone come again first, in any order.
  if (consumer.num_ack_pending > 0) pipeline.redeliveries.begin();
  return {
    configuration,
    settings,
    see,
    source,
    pipeline,
    flight,
    lanes,
    watch,
    recovery,
    settlement,
    deadLetters,
    massRejection,
    leaving,
    interestOnly: stream?.config.retention === "interest",
    goal: stream?.state.last_seq ?? null,
  };
}

function anyOf(patterns: readonly string[]): (subject: string) => boolean {
  const compiled = patterns.map(compileSubjectPattern);
  return (subject) => compiled.some((pattern) => pattern.matches(subject));
}

function lanesOf({ delivery }: Configuration, settings: PipelineSettings, sink: Sink): Lanes {
  if (delivery.ordering === "none" || !settings.ordered) return new FreeLanes();
  return new OrderedLanes(laneKey(delivery.ordering, delivery.order_key), hasOrderedBatches(sink));
}

function deadLettersOf(configuration: Configuration, source: JetStreamSource, telemetry: Telemetry, clock: Clock): DeadLetters | null {
  const { enabled, subject, stream, domain, max_bytes: maxBytes, max_in_flight: maxInFlight } = configuration.dead_letter;
  if (!enabled || subject === null) return null;
  const policy = retryPolicy(configuration);
  const waitMs = (failures: number): number => backoffDelay(policy, failures, clock.random);
  const port = deadLetterPort(configuration, () => source.link);
  return new DeadLetters(port, { subject, stream, domain, maxBytes, maxInFlight, waitMs }, telemetry);
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

function ackPort(source: JetStreamSource): AckPort {
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
      return source.trusted;
    },
    publish: (subjects, verb) => source.publish(subjects, verb),
    confirm: (subject, verb, timeoutMs) => source.confirm(subject, verb, timeoutMs),
    doubt: (reason) => source.doubt(reason),
    whenSettling: (signal) => source.whenSettling(signal),
  };
}

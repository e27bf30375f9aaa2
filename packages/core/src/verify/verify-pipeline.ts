import { pipelineName } from "../config/pipeline-name.js";
import type { Configuration } from "../config/schema.js";
import { hasInventory } from "../connector/abilities.js";
import type { InventoryAbility } from "../connector/inventory.js";
import type { Sink } from "../connector/sink.js";
import { decodeDeadLetter } from "../dead-letter/entry.js";
import { walkDeadLetters } from "../dead-letter/list.js";
import { jetStreamKeyPrefix } from "../envelope/idempotency-key.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";
import { ConfigurationError, SinksError } from "../error/errors.js";
import type { ConsumerState } from "../source/consumer.js";
import { filterSubjects } from "../source/consumer-settings.js";
import { type DeadLetterStore, openDeadLetterStore } from "../source/dead-letter-store.js";
import { coversStream, openStreamAudit, type StreamAudit, type StreamState } from "../source/stream-audit.js";
import { streamLimits } from "../source/stream-limits.js";
import { AccountedDeadLetters, type PipelineIdentity } from "./dead-letter-origin.js";
import { walkExisting } from "./existing-walk.js";
import { expectedStart, firstSequenceSince } from "./expected-start.js";
import { type Readings, reconcile } from "./reconcile.js";
import type { Verification } from "./verification.js";

/** What is to be verified. */
export interface VerifyRequest {
  /** A validated configuration whose secrets are resolved. */
  readonly configuration: Configuration;
  /** Made and not started. */
  readonly sink: Sink;
  /** First and last stream sequence; by default what the pipeline began with, and the stream's last one. */
  readonly from: number | null;
  readonly to: number | null;
  readonly signal: AbortSignal;
}

/**
 * Accounts for every message of a pipeline: stored, dead-lettered, pending, purged or missing (FW-CLI-07). Changes nothing,
 * and may run beside the pipeline. Rejects with `ConfigurationError` when there is no stream, no consumer, or no way to list
 * the destination; with another `SinksError` when something cannot be read, or was made again meanwhile.
 */
export async function verifyPipeline(request: VerifyRequest): Promise<Verification> {
  const { configuration, sink } = request;
  if (!hasInventory(sink)) {
    throw new ConfigurationError(
      `sink.type: connector "${configuration.sink.type}" cannot list what it has stored, so it cannot be verified`,
      {
        code: "not_supported",
      },
    );
  }
  await using audit = await openStreamAudit(configuration);
  const stream = await audit.stream();
  const consumer = await audit.consumer();
  const { from, note } = await startOf(request, audit, stream, consumer);
  const to = Math.min(request.to ?? stream.state.last_seq, stream.state.last_seq);
  if (!Number.isSafeInteger(to)) throw new SinksError("nats: the stream's sequences are beyond 2^53", { code: "not_supported" });
  await using deadLetters = configuration.dead_letter.enabled ? await openDeadLetterStore(configuration) : null;
  const readings = readingsOf(request, sink, { audit, stream, consumer, deadLetters });
  const result = await reconcile(readings, from, to);
  // What was found belongs to one life of both, or it says nothing.
  await readings.stream();
  await readings.consumer();
  return note === null ? result : { ...result, notes: [note, ...result.notes] };
}

async function startOf(request: VerifyRequest, audit: StreamAudit, stream: StreamState, consumer: ConsumerState) {
  if (request.from !== null) return { from: request.from, note: null };
  const firstPossible = Math.max(1, stream.config.first_seq ?? 1);
  const facts = { config: consumer.config, consumerCreatedAt: consumer.created, firstPossible };
  const start = expectedStart(facts, request.configuration);
  if (start.kind === "sequence") return { from: start.sequence, note: null };
  const { first_seq: first, last_seq: last } = stream.state;
  return { from: await firstSequenceSince(start.timeNs, first, last, (sequence) => audit.next(">", sequence)), note: start.note };
}

interface Opened {
  readonly audit: StreamAudit;
  readonly stream: StreamState;
  readonly consumer: ConsumerState;
  readonly deadLetters: DeadLetterStore | null;
}

function readingsOf({ configuration, signal }: VerifyRequest, sink: InventoryAbility, opened: Opened): Readings {
  const { audit, deadLetters } = opened;
  const { nats, idempotency } = configuration;
  const createdNs = parseRfc3339(opened.stream.created);
  if (createdNs === null) throw new SinksError("nats: the stream's creation time cannot be understood");
  const lives = idempotency.allow_unknown_incarnation ? [createdNs, null] : [createdNs];
  const keyPrefixes = lives.map((life) => jetStreamKeyPrefix(idempotency.account, nats.domain, nats.stream, life));
  const place = {
    stream: nats.stream,
    pipeline: pipelineName(configuration, configuration.sink.type),
    streamCreatedNs: lives,
    keyPrefixes,
  };
  const filters = filterSubjects(configuration);
  const identity: PipelineIdentity = {
    stream: nats.stream,
    consumer: nats.consumer,
    streamCreatedNs: createdNs,
    unknownIncarnation: idempotency.allow_unknown_incarnation,
  };
  return {
    async consumer() {
      signal.throwIfAborted();
      const { created, ack_floor: floor, delivered, num_ack_pending: ackPending } = await audit.consumer();
      if (created !== opened.consumer.created) throw madeAgain("consumer");
      return { floor: floor.stream_seq, delivered: delivered.stream_seq, ackPending };
    },
    async stream() {
      const now = await audit.stream();
      if (now.created !== opened.stream.created) throw madeAgain("stream");
      return { limits: streamLimits(now), wholeStream: coversStream(now, filters) };
    },
    destination: (from, to, report) => sink.inventory({ ...place, from, to }, report, signal),
    async deadLetters(_from, _to, deadLettered) {
      if (deadLetters === null) return;
      const accounted = new AccountedDeadLetters(identity);
      for await (const message of walkDeadLetters((sequence) => deadLetters.next(deadLetters.subject, sequence), 1)) {
        signal.throwIfAborted();
        const sequence = accounted.add(decodeDeadLetter(message));
        if (sequence !== null) deadLettered(sequence);
      }
    },
    existing: (positions, found) => existing(audit, filters, coversStream(opened.stream, filters), positions, found),
  };
}

/** A stream with few gaps lists them; otherwise its messages are asked for, one by one where that is needed. */
async function existing(
  audit: StreamAudit,
  filters: readonly string[],
  wholeStream: boolean,
  positions: (from: number) => number | null,
  found: (sequence: number) => void,
): Promise<void> {
  const gaps = wholeStream ? await audit.deleted() : null;
  if (gaps === null) {
    for (const filter of wholeStream ? [">"] : filters) {
      await walkExisting(async (sequence) => (await audit.next(filter, sequence))?.sequence ?? null, positions, found);
    }
    return;
  }
  for (let at = positions(gaps.first); at !== null && at <= gaps.last; at = positions(at + 1)) if (!gaps.gone.has(at)) found(at);
}

function madeAgain(what: string): SinksError {
  return new SinksError(`nats: the ${what} was made again while it was looked at; run the command again`, { code: "temporary" });
}

import { AckPolicy, type ConsumerConfig, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";

const nanosPerSecond = 1e9;
/** An ephemeral consumer must outlive an outage during which nothing is pulled. */
const ephemeralInactiveSeconds = 3600;
const pinnedGroup = "sinks";

/** One configured field of the consumer that the server holds otherwise (FW-RUN-03). */
export interface ConsumerDifference {
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
  readonly mutable: boolean;
}

/** Metadata of a consumer that was made again under way: where it starts is then the runner's choice (FW-RUN-05). */
export const recreatedKey = "_sinks.recreated";
const startFields: ReadonlySet<string> = new Set(["deliver_policy", "opt_start_seq", "opt_start_time"]);

const immutableFields: ReadonlySet<string> = new Set([
  "ack_policy",
  "deliver_policy",
  "opt_start_seq",
  "opt_start_time",
  "replay_policy",
  "mem_storage",
  "max_waiting",
]);

const deliverPolicies: Readonly<Record<string, DeliverPolicy>> = {
  all: DeliverPolicy.All,
  last: DeliverPolicy.Last,
  new: DeliverPolicy.New,
  last_per_subject: DeliverPolicy.LastPerSubject,
  by_start_sequence: DeliverPolicy.StartSequence,
  by_start_time: DeliverPolicy.StartTime,
};

/** Subjects the consumer delivers: its own filters, else the subject of the pipeline. */
export function filterSubjects(configuration: Configuration): readonly string[] {
  const { filter_subjects } = configuration.consumer_management;
  return filter_subjects.length > 0 ? filter_subjects : [configuration.nats.subject];
}

/** Name of the pinned priority group when the pipeline keeps an order and the server knows them (FW-RUN-12). */
export function priorityGroup(configuration: Configuration, supported: boolean): string | null {
  return configuration.delivery.ordering !== "none" && supported ? pinnedGroup : null;
}

/** The consumer as the configuration states it; a key that is not set is left to the server. */
export function statedConsumer(configuration: Configuration, group: string | null, pinTimeoutMs: number): Partial<ConsumerConfig> {
  const { consumer_management: management } = configuration;
  const filters = filterSubjects(configuration);
  const stated: Partial<ConsumerConfig> = {
    ack_policy: AckPolicy.Explicit,
    deliver_policy: deliverPolicies[management.deliver_policy] as DeliverPolicy,
    replay_policy: management.replay_policy === "original" ? ReplayPolicy.Original : ReplayPolicy.Instant,
  };
  if (filters.length === 1) stated.filter_subject = filters[0] as string;
  else stated.filter_subjects = [...filters];
  if (management.ack_wait_seconds !== null) stated.ack_wait = nanos(management.ack_wait_seconds);
  if (management.backoff_seconds !== null && management.backoff_seconds.length > 0) stated.backoff = management.backoff_seconds.map(nanos);
  if (management.max_deliver !== null) stated.max_deliver = management.max_deliver;
  if (management.max_ack_pending !== null) stated.max_ack_pending = management.max_ack_pending;
  if (management.max_waiting !== null) stated.max_waiting = management.max_waiting;
  if (management.headers_only !== null) stated.headers_only = management.headers_only;
  if (management.num_replicas !== null && management.num_replicas > 0) stated.num_replicas = management.num_replicas;
  if (management.memory_storage !== null) stated.mem_storage = management.memory_storage;
  if (Object.keys(management.metadata).length > 0) stated.metadata = { ...management.metadata };
  if (management.deliver_policy === "by_start_sequence" && management.start_sequence !== null)
    stated.opt_start_seq = Number(management.start_sequence);
  if (management.deliver_policy === "by_start_time" && management.start_time !== null) stated.opt_start_time = management.start_time;
  if (group !== null) {
    stated.priority_groups = [group];
    stated.priority_policy = "pinned_client";
    stated.priority_timeout = pinTimeoutMs * 1e6;
  }
  return stated;
}

/** What a new consumer is made of: the stated fields, a name, and the ack window the runner needs (FW-RUN-04). */
export function newConsumer(configuration: Configuration, stated: Partial<ConsumerConfig>): ConsumerConfig {
  const { nats, delivery } = configuration;
  const identity: Partial<ConsumerConfig> = nats.durable
    ? { durable_name: nats.consumer, name: nats.consumer }
    : { name: nats.consumer, inactive_threshold: nanos(ephemeralInactiveSeconds) };
  return {
    max_ack_pending: Math.max(20_000, 4 * delivery.max_messages_in_flight),
    ...identity,
    ...stated,
  } as ConsumerConfig;
}

/** Configured fields that the server holds otherwise; `_nats.` and `_sinks.` metadata is not the operator's. */
export function compareConsumer(stated: Partial<ConsumerConfig>, actual: ConsumerConfig): readonly ConsumerDifference[] {
  const differences: ConsumerDifference[] = [];
  const recreated = actual.metadata?.[recreatedKey] !== undefined;
  for (const [field, expected] of Object.entries(stated)) {
    if (recreated && startFields.has(field)) continue;
    if (field === "filter_subject" || field === "filter_subjects" || field === "metadata") continue;
    // A consumer without the pin works too, for one client; the runner warns then.
    if (field.startsWith("priority_")) continue;
    const found = (actual as unknown as Record<string, unknown>)[field];
    if (!sameField(field, expected, found ?? defaultOf(field))) differences.push(difference(field, expected, found));
  }
  // A consumer with groups refuses every pull that names none, so a pipeline without order cannot use it.
  if (stated.priority_groups === undefined && (actual.priority_groups ?? []).length > 0) {
    differences.push(difference("priority_groups", undefined, actual.priority_groups));
  }
  const expectedFilters = filtersOf(stated);
  const actualFilters = filtersOf(actual);
  if (!same(expectedFilters, actualFilters)) differences.push(difference("filter_subjects", expectedFilters, actualFilters));
  const metadata = ownMetadata(actual.metadata);
  if (stated.metadata !== undefined && !same(sorted(stated.metadata), sorted(metadata))) {
    differences.push({ field: "metadata", expected: keysOf(stated.metadata), actual: keysOf(metadata), mutable: true });
  }
  return differences;
}

/**
 * The pin a consumer lacks that was made without an order. It works without, for one client, so only a mode that may change
 * the consumer counts it as a difference (FW-RUN-12).
 */
export function missingPin(stated: Partial<ConsumerConfig>, actual: ConsumerConfig): readonly ConsumerDifference[] {
  const { priority_groups: wanted } = stated;
  if (wanted === undefined || (actual.priority_groups ?? []).length > 0) return [];
  return [difference("priority_groups", wanted, actual.priority_groups)];
}

/** The update that mends every mutable difference, on top of what the server holds. */
export function mendConsumer(stated: Partial<ConsumerConfig>, actual: ConsumerConfig): ConsumerConfig {
  const mended: ConsumerConfig = { ...actual, ...stated };
  // The client merges an update into what the server holds, so the other form of the filter is emptied, not left out.
  if (stated.filter_subject !== undefined && actual.filter_subjects !== undefined) mended.filter_subjects = [];
  if (stated.filter_subjects !== undefined && actual.filter_subject !== undefined) mended.filter_subject = "";
  // Groups are taken away by leaving them out, also of what the client merges: it refuses an empty list.
  if (stated.priority_groups === undefined)
    Object.assign(mended, { priority_groups: undefined, priority_policy: undefined, priority_timeout: undefined });
  if (stated.metadata !== undefined) mended.metadata = { ...stated.metadata, ...reservedMetadata(actual.metadata) };
  return mended;
}

function nanos(seconds: number): number {
  return Math.round(seconds * nanosPerSecond);
}

function filtersOf(config: Partial<ConsumerConfig>): readonly string[] {
  if (config.filter_subjects && config.filter_subjects.length > 0) return [...config.filter_subjects].sort();
  return config.filter_subject ? [config.filter_subject] : [">"];
}

function ownMetadata(metadata: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([key]) => !key.startsWith("_nats.") && !key.startsWith("_sinks.")));
}

function reservedMetadata(metadata: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([key]) => key.startsWith("_sinks.")));
}

function sorted(record: Record<string, string>): readonly (readonly [string, string])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function keysOf(record: Record<string, string>): string {
  return `keys ${Object.keys(record).sort().join(", ") || "none"}`;
}

/** What the server leaves out of its answer when it stands at its zero value. */
function defaultOf(field: string): unknown {
  if (field === "headers_only" || field === "mem_storage") return false;
  if (field === "num_replicas") return 0;
  return undefined;
}

function difference(field: string, expected: unknown, actual: unknown): ConsumerDifference {
  return { field, expected: show(expected), actual: show(actual), mutable: !immutableFields.has(field) };
}

function show(value: unknown): string {
  return value === undefined ? "unset" : JSON.stringify(value);
}

/** One instant may be written in several ways; the server writes it in its own. */
function sameField(field: string, expected: unknown, found: unknown): boolean {
  if (field === "opt_start_time" && typeof expected === "string" && typeof found === "string") {
    return parseRfc3339(expected) === parseRfc3339(found);
  }
  return same(expected, found);
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

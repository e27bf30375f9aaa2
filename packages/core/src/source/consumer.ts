import type { ConsumerConfig, ConsumerInfo, JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import { ConfigurationError, type SinksError } from "../error/errors.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { type ConsumerDifference, compareConsumer, mendConsumer, missingPin, newConsumer, statedConsumer } from "./consumer-settings.js";
import { unmatchedFilters } from "./unmatched-filters.js";

/** The consumer as the server describes it. */
export type ConsumerState = ConsumerInfo;

/** Version facts of the server that decide what a consumer may use (FW-RUN-03). */
export interface ServerFeatures {
  readonly version: string;
  /** 2.10: several filters, metadata, an atomic create. */
  readonly current: boolean;
  /** 2.11: priority groups. */
  readonly priorityGroups: boolean;
}

/** A consumer that is bound, and what start should warn about. */
export interface BoundConsumer {
  /** Null when the server does not let us read it and the configuration allows that (FW-ENV-07). */
  readonly stream: StreamInfo | null;
  readonly consumer: ConsumerInfo;
  readonly warnings: readonly string[];
}

/** Reads the features out of a server version such as `2.11.4`. */
export function serverFeatures(version: string): ServerFeatures {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  const atLeast = (wanted: number): boolean => major > 2 || (major === 2 && minor >= wanted);
  return { version, current: atLeast(10), priorityGroups: atLeast(11) };
}

/**
 * Finds or makes the consumer the configuration states, by `consumer_management.mode`. A missing stream, a missing
 * consumer under `bind_only`, and drift are configuration errors; anything of the server's is thrown as it is.
 */
export async function ensureConsumer(
  manager: JetStreamManager,
  configuration: Configuration,
  features: ServerFeatures,
  group: string | null,
  pinTimeoutMs: number,
): Promise<BoundConsumer> {
  const { nats, consumer_management: management } = configuration;
  refuseUnsupported(configuration, features);
  const stream = await readStream(manager, configuration);
  const warnings: string[] = [];
  if (stream === null) warnings.push("the stream's creation time cannot be read: keys of a re-created stream may repeat");
  if (!features.current)
    warnings.push(
      `server ${features.version} is older than 2.10: consumer creation and TERM are limited, and messages out of deliveries cannot be marked`,
    );
  warnings.push(...filterWarnings(configuration, stream));
  const stated = statedConsumer(configuration, group, pinTimeoutMs);
  let consumer = await findConsumer(manager, nats.stream, nats.consumer);
  if (consumer === null) {
    if (management.mode === "bind_only") {
      throw new ConfigurationError(
        `nats.consumer: there is no consumer "${nats.consumer}" on stream "${nats.stream}"; create it, or set consumer_management.mode to create_if_missing`,
        { code: "consumer_missing" },
      );
    }
    consumer = await createConsumer(manager, nats.stream, newConsumer(configuration, stated));
  }
  const pin = management.mode === "reconcile" ? missingPin(stated, consumer.config) : [];
  const differences = [...compareConsumer(stated, consumer.config), ...pin];
  if (differences.length > 0) consumer = await mend(manager, configuration, stated, consumer, differences);
  checkBound(configuration, consumer);
  return { stream, consumer, warnings };
}

function filterWarnings({ nats, consumer_management: management }: Configuration, stream: StreamInfo | null): readonly string[] {
  if (stream === null) return [];
  const several = management.filter_subjects.length > 0;
  const key = several ? "consumer_management.filter_subjects" : "nats.subject";
  return unmatchedFilters(stream.config, several ? management.filter_subjects : [nats.subject]).map(
    (filter) => `${key}: no subject of stream "${nats.stream}" can match "${filter}"; correct one of the two`,
  );
}

/**
 * Reads the stream. A missing one is a configuration error in any mode (FW-RUN-32), and so is one we may not read, unless
 * `idempotency.allow_unknown_incarnation` accepts keys without its creation time: then it is null (FW-ENV-07).
 */
export async function readStream(manager: JetStreamManager, { nats, idempotency }: Configuration): Promise<StreamInfo | null> {
  const name = nats.stream;
  try {
    return await manager.streams.info(name);
  } catch (error) {
    const fault = apiFault(error);
    if (fault === "permission") {
      if (idempotency.allow_unknown_incarnation) return null;
      throw new ConfigurationError(
        `nats.stream: no permission to read stream "${name}", whose creation time is part of every key; grant it, or set idempotency.allow_unknown_incarnation`,
        { code: "credentials_refused", cause: error },
      );
    }
    if (fault !== "stream_missing") throw error;
    throw new ConfigurationError(`nats.stream: there is no stream "${name}" on the server; create it or correct the name`, {
      code: "stream_missing",
      cause: error,
    });
  }
}

/** What is wrong with a consumer that was bound again under way (FW-RUN-32); null when nothing is. */
export function describeDrift(configuration: Configuration, group: string | null, consumer: ConsumerState): string | null {
  const faults = compareConsumer(statedConsumer(configuration, group, 0), consumer.config).map(
    ({ field, expected, actual }) => `${field} expected ${expected}, found ${actual}`,
  );
  if (consumer.config.deliver_subject) faults.push("it is a push consumer now");
  if (consumer.config.max_deliver === 1 && !configuration.delivery.allow_single_delivery)
    faults.push("max_deliver 1 leaves no second delivery");
  return faults.length === 0 ? null : faults.join("; ");
}

/** The consumer, or null when the server says that there is none. */
export async function findConsumer(manager: JetStreamManager, stream: string, consumer: string): Promise<ConsumerInfo | null> {
  try {
    return await manager.consumers.info(stream, consumer);
  } catch (error) {
    if (apiFault(error) === "consumer_missing") return null;
    throw error;
  }
}

async function createConsumer(manager: JetStreamManager, stream: string, config: ConsumerConfig): Promise<ConsumerInfo> {
  try {
    return await manager.consumers.add(stream, config);
  } catch (error) {
    const fault = apiFault(error);
    if (fault === "consumer_exists") return manager.consumers.info(stream, config.name as string);
    if (fault === "permission") {
      throw new ConfigurationError(
        `nats.consumer: the login may not create consumer "${config.name}"; grant it, or create the consumer and set consumer_management.mode to bind_only`,
        { code: "credentials_refused", cause: error },
      );
    }
    if (fault !== "refused") throw error;
    throw new ConfigurationError(
      `consumer_management: the server refused to create consumer "${config.name}" (${describeApiFault(error)}); correct the settings it names`,
      { cause: error },
    );
  }
}

async function mend(
  manager: JetStreamManager,
  configuration: Configuration,
  stated: Partial<ConsumerConfig>,
  consumer: ConsumerInfo,
  differences: readonly ConsumerDifference[],
): Promise<ConsumerInfo> {
  const { nats, consumer_management: management } = configuration;
  const immutable = differences.filter((difference) => !difference.mutable);
  if (management.mode !== "reconcile" || immutable.length > 0) throw drift(configuration, immutable.length > 0 ? immutable : differences);
  try {
    return await manager.consumers.update(nats.stream, nats.consumer, mendConsumer(stated, consumer.config));
  } catch (error) {
    if (apiFault(error) !== "refused") throw error;
    throw new ConfigurationError(
      `consumer_management: the server refused to update ${differences.map(({ field }) => field).join(", ")} of consumer "${nats.consumer}" (${describeApiFault(error)}); delete the consumer or give it another name`,
      { code: "consumer_drift", cause: error },
    );
  }
}

function drift(configuration: Configuration, differences: readonly ConsumerDifference[]): SinksError {
  const { nats, consumer_management: management } = configuration;
  const list = differences.map(({ field, expected, actual }) => `${field} expected ${expected}, found ${actual}`).join("; ");
  const remedy =
    management.mode === "reconcile"
      ? "these cannot be changed on a live consumer: use another consumer name"
      : "correct the configuration, or set consumer_management.mode to reconcile";
  return new ConfigurationError(`consumer_management: consumer "${nats.consumer}" differs from the configuration (${list}); ${remedy}`, {
    code: "consumer_drift",
  });
}

/** What no mode may run with. */
function checkBound(configuration: Configuration, consumer: ConsumerInfo): void {
  const { config } = consumer;
  if (config.deliver_subject) {
    throw new ConfigurationError(`nats.consumer: "${consumer.name}" is a push consumer; name a pull consumer`, { code: "consumer_drift" });
  }
  if (config.max_deliver === 1 && !configuration.delivery.allow_single_delivery) {
    throw new ConfigurationError(
      `nats.consumer: "${consumer.name}" has max_deliver 1, so nothing would come again after a failure; raise it or set delivery.allow_single_delivery`,
      { code: "consumer_drift" },
    );
  }
}

function refuseUnsupported(configuration: Configuration, features: ServerFeatures): void {
  if (features.current) return;
  const { filter_subjects, metadata } = configuration.consumer_management;
  const lacking = [
    ...(filter_subjects.length > 1 ? ["consumer_management.filter_subjects: several filters"] : []),
    ...(Object.keys(metadata).length > 0 ? ["consumer_management.metadata"] : []),
  ];
  if (lacking.length === 0) return;
  throw new ConfigurationError(
    `${lacking.join("; ")}: server ${features.version} lacks this; upgrade to 2.10 or later, or remove the key`,
    {
      code: "not_supported",
    },
  );
}

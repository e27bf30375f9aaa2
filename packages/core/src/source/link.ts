import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { createInbox, type NatsConnection } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { Confirmations } from "./confirmation.js";
import { apiPrefix, openConnection } from "./connection.js";
import { type BoundConsumer, ensureConsumer, type ServerFeatures, serverFeatures } from "./consumer.js";
import { priorityGroup } from "./consumer-settings.js";

const requestTimeoutMs = 5000;

/** One connection with the consumer found on it; rebuilt as a whole when the connection is closed for good. */
export interface Link {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly confirmations: Confirmations;
  readonly features: ServerFeatures;
  readonly bound: BoundConsumer;
  readonly group: string | null;
  readonly inbox: string;
  /** Largest message the server takes, in bytes. */
  readonly maxPayload: number;
}

/** Pull expiry: `batch_timeout_ms` within 500..30000 (FW-RUN-34). */
export function pullExpiry(configuration: Configuration): number {
  return Math.min(30_000, Math.max(500, configuration.delivery.batch_timeout_ms));
}

/** Three pull expiries, at least 3 s: how long a pinned client may be silent (FW-RUN-12). */
export function pinTimeout(configuration: Configuration): number {
  return Math.max(3000, 3 * pullExpiry(configuration));
}

/** Connects and binds once; on any failure the connection is closed again. */
export function openLink(configuration: Configuration): Promise<Link> {
  return connected(configuration, async (manager, features) => {
    const wanted = priorityGroup(configuration, features.priorityGroups);
    const bound = await ensureConsumer(manager, configuration, features, wanted, pinTimeout(configuration));
    const group = wanted !== null && bound.consumer.config.priority_groups?.includes(wanted) ? wanted : null;
    return { bound, group };
  });
}

/** Connects again under way; what became of the consumer is found out by the check that follows, and never made here. */
export function reopenLink(configuration: Configuration, { bound, group }: Link): Promise<Link> {
  return connected(configuration, async () => ({ bound, group }));
}

async function connected(
  configuration: Configuration,
  bind: (manager: JetStreamManager, features: ServerFeatures) => Promise<Pick<Link, "bound" | "group">>,
): Promise<Link> {
  const connection = await openConnection(configuration);
  try {
    const prefix = apiPrefix(configuration.nats);
    const options = { apiPrefix: prefix, timeout: requestTimeoutMs, checkAPI: false };
    const manager = await jetstreamManager(connection, options);
    const features = serverFeatures(connection.info?.version ?? "0.0.0");
    const { bound, group } = await bind(manager, features);
    const inbox = createInbox(configuration.nats.inbox_prefix);
    return {
      connection,
      manager,
      client: jetstream(connection, { apiPrefix: prefix, timeout: requestTimeoutMs }),
      confirmations: new Confirmations(connection, `${inbox}.c`),
      features,
      bound,
      group,
      inbox,
      maxPayload: connection.info?.max_payload ?? 1_048_576,
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

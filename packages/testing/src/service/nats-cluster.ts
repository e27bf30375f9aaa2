import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { eventually } from "../eventually.js";
import { freePort } from "./free-port.js";
import { startNatsProcess } from "./nats-process.js";
import { natsRecipe } from "./nats-recipe.js";
import type { NatsServer } from "./nats-server.js";
import { resolveServer, type ServerSource } from "./resolve-server.js";

/** What a test wants of its cluster. */
export interface NatsClusterOptions {
  /** Number of nodes; 3 by default. */
  readonly size?: number;
  /** More lines for the configuration file of every node. */
  readonly config?: string;
  /** Environment for the look-up of the binary; `process.env` by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Several nats-servers that are one JetStream cluster; each can be stopped, killed, frozen and restarted by itself. */
export interface NatsCluster extends AsyncDisposable {
  readonly name: string;
  /** Addresses of all nodes, for a client that may go on with another one. */
  readonly urls: readonly string[];
  readonly nodes: readonly NatsServer[];
  /** The node of a name as the server tells it, for example `info.cluster.leader` of a consumer. */
  node(name: string): NatsServer;
}

const attempts = 3;

/**
 * Starts a JetStream cluster of own processes and resolves once it has a leader and answers on every node. Use with
 * `await using`: dispose ends all nodes and removes their data. Needs a nats-server binary: there is no cluster of containers.
 */
export async function startNatsCluster(options: NatsClusterOptions = {}): Promise<NatsCluster> {
  const found = await resolveServer(natsRecipe, { environment: options.environment ?? process.env, ownServer: true });
  if (found.kind !== "binary") throw new Error(`a cluster needs a nats-server binary: ${natsRecipe.remedy}`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startNodes(found, options);
    } catch (error) {
      if (attempt === attempts || !/address already in use/.test((error as Error).message)) throw error;
    }
  }
}

async function startNodes(found: Extract<ServerSource, { kind: "binary" }>, options: NatsClusterOptions): Promise<NatsCluster> {
  const name = "sinks-tests";
  const routePorts = await distinctPorts(options.size ?? 3);
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(", ");
  // Together: a node answers its health check only when a majority is there.
  const started = await Promise.allSettled(
    routePorts.map((port, index) =>
      startNatsProcess(
        found,
        `server_name: n${index + 1}\ncluster { name: ${name}, listen: "127.0.0.1:${port}", routes: [${routes}] }\n${options.config ?? ""}`,
      ),
    ),
  );
  const nodes = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const end = async () => void (await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())));
  try {
    for (const result of started) if (result.status === "rejected") throw result.reason;
    await Promise.all(nodes.map(answers));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    name,
    urls: nodes.map(({ url }) => url),
    nodes,
    node(wanted) {
      const node = nodes[Number(/^n(\d+)$/.exec(wanted)?.[1]) - 1];
      if (node === undefined) throw new Error(`the cluster has no node ${wanted}`);
      return node;
    },
    [Symbol.asyncDispose]: end,
  };
}

async function distinctPorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/** Only a leader answers this; without one a creation of a stream would wait for its whole time-out. */
function answers({ url }: NatsServer): Promise<unknown> {
  return eventually(
    async () => {
      const connection = await connect({ servers: url, reconnect: false, ignoreClusterUpdates: true });
      try {
        return await (await jetstreamManager(connection, { timeout: 1_000 })).getAccountInfo();
      } finally {
        await connection.close();
      }
    },
    { deadlineMs: 20_000, what: "a leader of the cluster" },
  );
}

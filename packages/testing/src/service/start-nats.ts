import { connect } from "@nats-io/transport-node";
import { startNatsContainer } from "./nats-container.js";
import { startNatsProcess } from "./nats-process.js";
import { natsRecipe } from "./nats-recipe.js";
import type { NatsOptions, NatsServer } from "./nats-server.js";
import { resolveServer } from "./resolve-server.js";
import { sharedServer } from "./shared-server.js";

/**
 * Starts a nats-server with JetStream, or takes the one that TEST_NATS_URL names. Use with `await using`: dispose ends
 * the process and removes its data. Rejects with everything that was tried when no server can be had.
 */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const environment = options.environment ?? process.env;
  const ownServer = options.ownServer === true || options.config !== undefined;
  const source = await resolveServer(natsRecipe, { environment, ownServer });
  switch (source.kind) {
    case "url":
      return namedServer(source.url);
    case "binary":
      return startNatsProcess(source, options.config ?? "");
    case "container":
      return startNatsContainer(source.image, options.config ?? "");
  }
}

async function namedServer(url: string): Promise<NatsServer> {
  const connection = await connect({ servers: url, timeout: 5_000 });
  const version = connection.info?.version ?? "unknown";
  const { port } = new URL(connection.getServer().includes("://") ? connection.getServer() : `nats://${connection.getServer()}`);
  await connection.close();
  const { refuse, ...verbs } = sharedServer(natsRecipe.urlVariable, "startNats");
  return { ...verbs, url, port: Number(port), version, restart: refuse, reload: refuse };
}

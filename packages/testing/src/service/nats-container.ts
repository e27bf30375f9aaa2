import { connect } from "@nats-io/transport-node";
import { eventually } from "../eventually.js";
import { type ContainerLibrary, loadTestcontainers, startContainer } from "./container-library.js";
import type { NatsRestart, NatsServer } from "./nats-server.js";

const fixedConfiguration = "a server in a container keeps the configuration it was started with";

/** Starts nats-server in a container on a fixed port of this machine. */
export async function startNatsContainer(
  image: string,
  config: string,
  library: () => Promise<ContainerLibrary> = loadTestcontainers,
): Promise<NatsServer> {
  const url = (port: number) => `nats://127.0.0.1:${port}`;
  const server = await startContainer({
    image,
    library,
    port: 4222,
    describe: (builder) =>
      builder
        .withCommand(["-c", "/etc/sinks-nats.conf", "-js", "-sd", "/data"])
        .withCopyContentToContainer([{ content: `${config}\n`, target: "/etc/sinks-nats.conf" }]),
    url,
    answers: (port) => serverVersion(url(port)),
  });
  return Object.assign(server, {
    async restart(changes: NatsRestart = {}) {
      if (changes.config !== undefined) throw new Error(fixedConfiguration);
      await server.relaunch();
    },
    reload: () => Promise.reject(new Error(fixedConfiguration)),
  });
}

/** Waits until the server answers; one that refuses the login answers too. */
async function serverVersion(url: string): Promise<string> {
  return eventually(
    async () => {
      const connection = await connect({ servers: url, timeout: 1_000, reconnect: false });
      const version = connection.info?.version ?? "unknown";
      await connection.close();
      return version;
    },
    { deadlineMs: 15_000, what: "nats-server in its container" },
  );
}

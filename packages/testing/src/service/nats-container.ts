import { connect } from "@nats-io/transport-node";
import { eventually } from "../eventually.js";
import { freePort } from "./free-port.js";
import type { NatsServer } from "./nats-server.js";
import { runCommand } from "./run-command.js";

/** The part of Testcontainers that is used; the package is an optional peer dependency. */
export interface ContainerLibrary {
  readonly GenericContainer: new (image: string) => ContainerBuilder;
}

/** A container that is being described. */
export interface ContainerBuilder {
  withCommand(command: string[]): this;
  withCopyContentToContainer(files: { content: string; target: string }[]): this;
  withExposedPorts(...ports: { container: number; host: number }[]): this;
  start(): Promise<{ getId(): string; stop(): Promise<unknown> }>;
}

/** Loads Testcontainers; a machine that has a Docker engine but not the package is told what to add. */
export async function loadTestcontainers(): Promise<ContainerLibrary> {
  // The name is kept from the compiler: the package need not be there.
  const name: string = "testcontainers";
  try {
    return (await import(name)) as ContainerLibrary;
  } catch (error) {
    throw new Error("a Docker engine answers, but the package testcontainers is not installed: add it as a devDependency", {
      cause: error,
    });
  }
}

const fixedConfiguration = "a server in a container keeps the configuration it was started with";

/** Starts nats-server in a container on a fixed port of this machine. */
export async function startNatsContainer(
  image: string,
  config: string,
  library: () => Promise<ContainerLibrary> = loadTestcontainers,
): Promise<NatsServer> {
  const { GenericContainer } = await library();
  const port = await freePort();
  const container = await new GenericContainer(image)
    .withCommand(["-c", "/etc/sinks-nats.conf", "-js", "-sd", "/data"])
    .withCopyContentToContainer([{ content: `${config}\n`, target: "/etc/sinks-nats.conf" }])
    .withExposedPorts({ container: 4222, host: port })
    .start();
  const url = `nats://127.0.0.1:${port}`;
  const docker = async (...args: string[]) => {
    const { succeeded, output, reason } = await runCommand("docker", [...args, container.getId()], { timeoutMs: 30_000 });
    if (!succeeded) throw new Error(reason);
    return output;
  };
  const version = await serverVersion(url);
  return {
    url,
    port,
    version,
    origin: `container ${image}`,
    own: true,
    pid: null,
    log: () => docker("logs"),
    stop: async () => void (await docker("stop")),
    kill: async () => void (await docker("kill")),
    async restart(changes = {}) {
      if (changes.config !== undefined) throw new Error(fixedConfiguration);
      await docker("restart");
      await serverVersion(url);
    },
    reload: () => Promise.reject(new Error(fixedConfiguration)),
    freeze: async () => void (await docker("pause")),
    thaw: async () => void (await docker("unpause")),
    [Symbol.asyncDispose]: async () => void (await container.stop()),
  };
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

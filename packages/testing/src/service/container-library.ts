import { freePort } from "./free-port.js";
import { runCommand } from "./run-command.js";
import type { RunningServer } from "./running-server.js";

/** The part of Testcontainers that is used; the package is an optional peer dependency. */
export interface ContainerLibrary {
  readonly GenericContainer: new (image: string) => ContainerBuilder;
}

/** A container that is being described. */
export interface ContainerBuilder {
  withCommand(command: string[]): this;
  withEnvironment(environment: Record<string, string>): this;
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

/** How one kind of server is run in a container. */
export interface ContainerPlan {
  readonly image: string;
  readonly library: () => Promise<ContainerLibrary>;
  /** Port inside the container. */
  readonly port: number;
  readonly describe: (builder: ContainerBuilder) => ContainerBuilder;
  url(port: number): string;
  /** Waits until the server answers, and tells its version. */
  answers(port: number): Promise<string>;
}

/** A server in a container, which can be started again as it was. */
export interface ContainedServer extends RunningServer {
  relaunch(): Promise<void>;
}

/** Starts a server in a container on a fixed port of this machine. */
export async function startContainer(plan: ContainerPlan): Promise<ContainedServer> {
  const { GenericContainer } = await plan.library();
  const port = await freePort();
  const container = await plan.describe(new GenericContainer(plan.image)).withExposedPorts({ container: plan.port, host: port }).start();
  const docker = async (...args: string[]) => {
    const { succeeded, output, reason } = await runCommand("docker", [...args, container.getId()], { timeoutMs: 30_000 });
    if (!succeeded) throw new Error(reason);
    return output;
  };
  return {
    url: plan.url(port),
    port,
    version: await plan.answers(port),
    origin: `container ${plan.image}`,
    own: true,
    pid: null,
    log: () => docker("logs"),
    stop: async () => void (await docker("stop")),
    kill: async () => void (await docker("kill")),
    async relaunch() {
      await docker("restart");
      await plan.answers(port);
    },
    freeze: async () => void (await docker("pause")),
    thaw: async () => void (await docker("unpause")),
    [Symbol.asyncDispose]: async () => void (await container.stop()),
  };
}

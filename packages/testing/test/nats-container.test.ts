import { expect, test } from "vitest";
import { type ContainerBuilder, type ContainerLibrary, loadTestcontainers } from "../src/service/container-library.js";
import { startNatsContainer } from "../src/service/nats-container.js";

test("Testcontainers has the shape that is used of it", async () => {
  const real: typeof import("testcontainers") = (await loadTestcontainers()) as never;
  // Fails to compile when the library's interface moves away from ours.
  const used: ContainerLibrary = real;
  const builder: ContainerBuilder = new used.GenericContainer("nats:2.12-alpine");
  expect(builder.withCommand(["-js"]).withExposedPorts({ container: 4222, host: 20_000 })).toBe(builder);
});

test("a container that does not start fails the launch with its own reason", async () => {
  const asked: unknown[] = [];
  class Broken implements ContainerBuilder {
    constructor(image: string) {
      asked.push(image);
    }
    withCommand(command: string[]) {
      asked.push(command);
      return this;
    }
    withEnvironment(environment: Record<string, string>) {
      asked.push(environment);
      return this;
    }
    withCopyContentToContainer(files: { content: string; target: string }[]) {
      asked.push(files);
      return this;
    }
    withExposedPorts() {
      return this;
    }
    start() {
      return Promise.reject(new Error("no such image"));
    }
  }
  await expect(startNatsContainer("nats:test", "debug: true", async () => ({ GenericContainer: Broken }))).rejects.toThrow("no such image");
  expect(asked).toEqual([
    "nats:test",
    ["-c", "/etc/sinks-nats.conf", "-js", "-sd", "/data"],
    [{ content: "debug: true\n", target: "/etc/sinks-nats.conf" }],
  ]);
});

import { expect, test } from "vitest";
import { type ContainerBuilder, type ContainerLibrary, loadTestcontainers } from "../src/service/container-library.js";
import { startNatsContainer } from "../src/service/nats-container.js";
import { brokenContainer } from "./broken-container.js";

test("Testcontainers has the shape that is used of it", async () => {
  const real: typeof import("testcontainers") = (await loadTestcontainers()) as never;
  // Fails to compile when the library's interface moves away from ours.
  const used: ContainerLibrary = real;
  const builder: ContainerBuilder = new used.GenericContainer("nats:2.12-alpine");
  expect(builder.withCommand(["-js"]).withExposedPorts({ container: 4222, host: 20_000 })).toBe(builder);
});

test("a container that does not start fails the launch with its own reason", async () => {
  const broken = brokenContainer();
  await expect(startNatsContainer("nats:test", "debug: true", broken.library)).rejects.toThrow("no such image");
  expect(broken.asked).toEqual([
    "nats:test",
    ["-c", "/etc/sinks-nats.conf", "-js", "-sd", "/data"],
    [{ content: "debug: true\n", target: "/etc/sinks-nats.conf" }],
  ]);
});

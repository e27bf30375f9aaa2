import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, test } from "vitest";
import { type HealthServer, listenAddress, serveHealth } from "../../src/observation/health-server.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";
import { statusOf } from "./status-of.js";

/** Resolves once a condition holds; the runner of the tests bounds the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

async function serving(status = () => statusOf()): Promise<{ server: HealthServer; url: string; telemetry: RecordingTelemetry }> {
  const telemetry = new RecordingTelemetry();
  const server = serveHealth({ host: "127.0.0.1", port: 0 }, { namespace: "nats_sinks", store: null, status }, telemetry);
  await until(() => server.port !== null);
  return { server, url: `http://127.0.0.1:${server.port}`, telemetry };
}

test.each([
  ["127.0.0.1:9090", { host: "127.0.0.1", port: 9090 }],
  [":9090", { host: "", port: 9090 }],
  ["[::1]:9090", { host: "::1", port: 9090 }],
  ["health.example.com:80", { host: "health.example.com", port: 80 }],
])("FW-CFG-11 %s is an address", (text, address) => {
  expect(listenAddress(text)).toEqual(address);
});

describe("requests", () => {
  test("FW-OBS-03 GET and HEAD are answered, whatever the query; nothing is cached", async () => {
    const { server, url } = await serving();
    await using _closing = server;
    const answer = await fetch(`${url}/readyz?verbose=1`);
    expect([answer.status, await answer.json()]).toEqual([200, { ready: true, state: "running", reasons: [] }]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const head = await fetch(`${url}/livez`, { method: "HEAD" });
    expect([head.status, await head.text(), head.headers.get("content-length")]).toEqual([200, "", "6"]);
  });

  test("FW-OBS-03 nothing but reading is allowed", async () => {
    const { server, url } = await serving();
    await using _closing = server;
    for (const method of ["POST", "PUT", "DELETE"]) expect((await fetch(`${url}/livez`, { method })).status).toBe(405);
  });

  test("FW-OBS-06 a page that cannot be made is a 500, counted, and the next request is answered", async () => {
    let broken = true;
    const { server, url, telemetry } = await serving(() => {
      if (broken) throw new Error("hunter2");
      return statusOf();
    });
    await using _closing = server;
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([500, ""]);
    expect(telemetry.counted("observation_errors_total")).toBe(1);
    broken = false;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test("FW-OBS-06 FW-RUN-38 clients that never finish their request keep nobody out, and are let go", async () => {
    const { server, url } = await serving();
    await using _closing = server;
    let open = 0;
    const slow = (begin: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(server.port ?? 0, "127.0.0.1", () => {
          open += 1;
          socket.resume();
          socket.write(begin);
          resolve();
        });
        socket.on("error", () => undefined);
        socket.once("close", () => {
          open -= 1;
        });
      });
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 200 }, (_, index) => slow(index % 2 === 0 ? "" : "GET /livez HTTP/1.1\r\nX-Slow: ")));
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    }
    expect(open).toBeLessThanOrEqual(200);
    await until(() => open === 0);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  test("FW-OBS-06 closing does not wait for a client that says nothing", async () => {
    const { server } = await serving();
    const idle = connect(server.port ?? 0, "127.0.0.1");
    const ended = new Promise<void>((resolve) => idle.once("close", () => resolve()));
    idle.on("error", () => undefined);
    await new Promise<void>((resolve) => idle.once("connect", () => resolve()));
    idle.write("GET /livez HTTP/1.1\r\n");
    await server[Symbol.asyncDispose]();
    await ended;
    expect(server.port).toBeNull();
  });
});

describe("an address that is taken", () => {
  test("FW-OBS-06 is told once and counted, and disposing ends the attempts", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const telemetry = new RecordingTelemetry();
    const { port } = other.address() as AddressInfo;
    const server = serveHealth({ host: "127.0.0.1", port }, { namespace: "n", store: null, status: () => statusOf() }, telemetry);
    await until(() => telemetry.events.length > 0);
    expect(telemetry.events).toEqual([
      { level: "warn", event: "health cannot be served; tried again", fields: { code: "EADDRINUSE", port } },
    ]);
    expect([server.port, telemetry.counted("observation_errors_total")]).toEqual([null, 1]);
    await server[Symbol.asyncDispose]();
    other.close();
  });
});

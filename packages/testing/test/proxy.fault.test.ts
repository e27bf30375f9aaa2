import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect as connectNats } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../src/eventually.js";
import { natsFilter } from "../src/fault/nats-filter.js";
import { startProxy } from "../src/fault/proxy.js";
import { startNats } from "../src/service/start-nats.js";

let echo: Server;
let port: number;
/** Bytes that the echo server has received. */
let received: number;
/** How its connections ended: `end` in order, `ECONNRESET` by a reset. */
let endings: string[];

beforeEach(async () => {
  received = 0;
  endings = [];
  echo = createServer((socket) => {
    socket.on("data", (chunk) => {
      received += chunk.length;
      socket.write(chunk);
    });
    socket.on("end", () => endings.push("end"));
    socket.on("error", (error: NodeJS.ErrnoException) => endings.push(error.code ?? ""));
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  port = (echo.address() as AddressInfo).port;
});
afterEach(() => void echo.close());

interface Client {
  readonly socket: Socket;
  readonly got: () => string;
  /** "closed", or the code of the error that ended it. */
  readonly ended: Promise<string>;
}

async function open(to: number): Promise<Client> {
  const socket = connect({ port: to, host: "127.0.0.1" });
  const parts: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => parts.push(chunk));
  const ended = new Promise<string>((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    socket.once("close", () => resolve("closed"));
  });
  await once(socket, "connect");
  return { socket, got: () => Buffer.concat(parts).toString("latin1"), ended };
}

const soon = (what: string) => ({ deadlineMs: 5_000, what, intervalMs: 2 });

test("passes bytes both ways and an orderly end", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  const sent = "x".repeat(300_000);
  client.socket.write(sent);
  await eventually(() => client.got().length === sent.length, soon("the echo"));
  expect(client.got()).toBe(sent);
  expect(proxy.bytes).toEqual({ toServer: 300_000, toClient: 300_000 });
  client.socket.end();
  expect(await client.ended).toBe("closed");
  expect(endings).toEqual(["end"]);
  await eventually(() => proxy.connections === 0, soon("the link to close"));
});

test("refuses new connections, leaves open ones, and takes new ones again on the same port", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  await proxy.refuse();
  await expect(open(proxy.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  client.socket.write("still");
  await eventually(() => client.got() === "still", soon("the open connection to work"));
  await proxy.pass();
  (await open(proxy.port)).socket.destroy();
  client.socket.destroy();
});

test("cuts connections with a reset on both sides", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  client.socket.write("a");
  await eventually(() => client.got() === "a", soon("the echo"));
  proxy.cut();
  expect(await client.ended).toBe("ECONNRESET");
  await eventually(() => endings.includes("ECONNRESET"), soon("the server to see the reset"));
});

test("holds bytes without closing, and lets them go on in order", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  client.socket.write("a");
  await eventually(() => client.got() === "a", soon("the echo"));
  proxy.hold();
  client.socket.write("b");
  client.socket.write("c".repeat(500_000));
  await eventually(() => client.socket.writableLength > 0 || client.socket.bytesWritten >= 500_002, soon("the write to be under way"));
  expect(received).toBe(1);
  expect(proxy.connections).toBe(1);
  await proxy.pass();
  await eventually(() => client.got().length === 500_002, soon("the held bytes"));
  expect(client.got()).toBe(`ab${"c".repeat(500_000)}`);
  client.socket.destroy();
});

test("drops replies: the request arrives, its answer does not, and the broken stream is reset afterwards", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  proxy.dropReplies();
  client.socket.write("lost");
  await eventually(() => received === 4, soon("the request to arrive"));
  await proxy.pass();
  expect(await client.ended).toBe("ECONNRESET");
  expect(client.got()).toBe("");
});

test("delays both ways and keeps the order", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  proxy.delay(40);
  const start = performance.now();
  for (const letter of "abcdef") client.socket.write(letter);
  await eventually(() => client.got() === "abcdef", soon("the delayed echo"));
  expect(performance.now() - start).toBeGreaterThanOrEqual(79);
  client.socket.destroy();
});

test("a target that is down resets the client", async () => {
  await using proxy = await startProxy({ port });
  echo.close();
  await once(echo, "close");
  const client = await open(proxy.port);
  expect(["ECONNRESET", "closed"]).toContain(await client.ended);
});

test("takes chosen messages out of a real NATS connection and leaves it usable", async () => {
  await using nats = await startNats({ ownServer: true });
  const dropped: string[] = [];
  await using proxy = await startProxy({
    port: nats.port,
    toClient: natsFilter((frame) => {
      const isPublishAck = frame.payload.includes('"seq":2');
      if (isPublishAck) dropped.push(frame.payload.toString());
      return isPublishAck;
    }),
  });
  const connection = await connectNats({ servers: `nats://127.0.0.1:${proxy.port}` });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "S", subjects: ["s"], storage: "memory" });
  const client = jetstream(connection);
  expect((await client.publish("s", "one")).seq).toBe(1);
  await expect(client.publish("s", "two", { timeout: 300 })).rejects.toThrow(/timeout/i);
  expect(dropped).toHaveLength(1);
  expect((await client.publish("s", "three")).seq).toBe(3);
  await connection.close();
});

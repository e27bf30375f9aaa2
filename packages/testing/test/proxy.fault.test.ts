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
  expect(proxy.bytes).toEqual({ toServer: 300_000, toClient: 300_000, lost: 0 });
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
  await eventually(() => received === 4 && proxy.bytes.lost === 4, soon("the request to arrive and its answer to be lost"));
  await proxy.pass();
  expect(await client.ended).toBe("ECONNRESET");
  expect(client.got()).toBe("");
});

test("drops and holds one direction only", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  proxy.hold("toClient");
  client.socket.write("a");
  await eventually(() => received === 1, soon("the request to arrive"));
  expect(client.got()).toBe("");
  await proxy.pass();
  await eventually(() => client.got() === "a", soon("the held answer"));
  proxy.drop("toServer");
  client.socket.write("lost");
  await eventually(() => proxy.bytes.lost === 4, soon("the bytes to be thrown away"));
  await proxy.pass();
  expect(await client.ended).toBe("ECONNRESET");
  expect(received).toBe(1);
});

test("throttles to so many bytes a second, in order, and lets the rest go at once when it ends", async () => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  const sent = "0123456789".repeat(100);
  proxy.throttle(1_000, "toServer");
  const start = performance.now();
  client.socket.write(sent);
  await eventually(() => received >= 500, soon("half of the bytes"));
  expect(performance.now() - start).toBeGreaterThan(400);
  await proxy.pass();
  await eventually(() => client.got() === sent, soon("the rest"));
  expect(() => proxy.throttle(0)).toThrow(RangeError);
  client.socket.destroy();
});

test.each(["server", "client"] as const)("half-open: the %s vanishes, the other end is not told, new connections work", async (gone) => {
  await using proxy = await startProxy({ port });
  const client = await open(proxy.port);
  let told = false;
  client.socket.once("close", () => {
    told = true;
  });
  client.socket.write("a");
  await eventually(() => client.got() === "a", soon("the echo"));
  proxy.halfOpen(gone);
  await eventually(() => (gone === "server" ? endings.length === 1 : told), soon("the end to vanish"));
  const next = await open(proxy.port);
  next.socket.write("b");
  await eventually(() => next.got() === "b", soon("a new connection to work"));
  if (gone === "server") {
    client.socket.write("nobody hears this");
    expect(told).toBe(false);
  } else expect(endings).toEqual([]);
  expect(proxy.connections).toBe(2);
  await proxy.pass();
  await eventually(() => proxy.connections === 1, soon("the broken one to be reset"));
  expect(received).toBe(2);
  next.socket.destroy();
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

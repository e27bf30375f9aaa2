import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { eventually } from "../src/eventually.js";
import { startNatsCluster } from "../src/service/nats-cluster.js";
import { processState } from "../src/service/process-state.js";
import { startNats } from "../src/service/start-nats.js";

const storage = "file" as const;

async function ownFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith(`sinks-nats-${process.pid}-`));
}

test("a started server serves JetStream, and nothing of it is left after dispose", async () => {
  let pid: number;
  {
    await using nats = await startNats({ ownServer: true });
    pid = nats.pid as number;
    expect(nats.url).toBe(`nats://127.0.0.1:${nats.port}`);
    expect(nats.version).toMatch(/^\d+\.\d+\.\d+$/);
    const connection = await connect({ servers: nats.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: "S", subjects: ["s.>"], storage });
    expect((await jetstream(connection).publish("s.a", "x")).seq).toBe(1);
    await connection.close();
    expect(await nats.log()).toContain("Server is ready");
    expect(await ownFolders()).toHaveLength(1);
  }
  expect(processState(pid)).toBe("gone");
  expect(await ownFolders()).toEqual([]);
});

test("SIGKILL and restart keep address and data", async () => {
  await using nats = await startNats({ ownServer: true });
  const before = { url: nats.url, pid: nats.pid };
  const first = await connect({ servers: nats.url, reconnect: false });
  await (await jetstreamManager(first)).streams.add({ name: "S", subjects: ["s"], storage });
  for (let index = 0; index < 100; index += 1) await jetstream(first).publish("s", String(index));
  await nats.kill();
  expect(nats.pid).toBeNull();
  await first.closed();
  await expect(connect({ servers: nats.url, reconnect: false, timeout: 500 })).rejects.toThrow();

  await nats.restart();
  expect(nats.url).toBe(before.url);
  expect(nats.pid).not.toBe(before.pid);
  const second = await connect({ servers: nats.url });
  expect((await (await jetstreamManager(second)).streams.info("S")).state.messages).toBe(100);
  await second.close();
});

test("stop ends the server in order, restart may change the configuration", async () => {
  await using nats = await startNats({ config: "authorization { token: first }" });
  await expect(connect({ servers: nats.url, reconnect: false })).rejects.toThrow(/Authorization/);
  await nats.stop();
  expect(nats.pid).toBeNull();
  await nats.restart({ config: "authorization { token: second }" });
  await expect(connect({ servers: nats.url, token: "first", reconnect: false })).rejects.toThrow(/Authorization/);
  await (await connect({ servers: nats.url, token: "second" })).close();
});

test("a frozen server answers nothing until it is thawed, and is disposed while frozen", async () => {
  let pid: number;
  {
    await using nats = await startNats({ ownServer: true });
    pid = nats.pid as number;
    const connection = await connect({ servers: nats.url });
    await nats.freeze();
    expect(processState(pid)).toBe("stopped");
    const answer = connection.flush().then(() => "answered");
    expect(await Promise.race([answer, eventually(() => processState(pid) === "stopped", { deadlineMs: 100, what: "frozen" })])).toBe(true);
    await nats.thaw();
    expect(await answer).toBe("answered");
    await connection.close();
    await nats.freeze();
  }
  expect(processState(pid)).toBe("gone");
});

test("two servers run at once, each with its own data", async () => {
  const [one, two] = await Promise.all([startNats({ ownServer: true }), startNats({ ownServer: true })]);
  await using _one = one;
  await using _two = two;
  expect(one.port).not.toBe(two.port);
  const connection = await connect({ servers: one.url });
  await (await jetstreamManager(connection)).streams.add({ name: "S", subjects: ["s"], storage });
  const other = await connect({ servers: two.url });
  await expect((await jetstreamManager(other)).streams.info("S")).rejects.toThrow(/not found/);
  await connection.close();
  await other.close();
});

test("a server that is killed from outside keeps its log for the reader", async () => {
  await using nats = await startNats({ ownServer: true });
  const pid = nats.pid as number;
  const warned = once(process, "warning") as Promise<[Error]>;
  process.kill(pid, "SIGKILL");
  await eventually(() => nats.pid === null, { deadlineMs: 5_000, what: "the server's end to be noticed" });
  await nats.restart();
  const [warning] = await warned;
  expect(warning.message).toMatch(/^nats-server ended by itself \(SIGKILL\); its log is kept in /);
  const kept = warning.message.split("kept in ")[1] as string;
  expect(await readFile(kept, "utf8")).toContain("Server is ready");
  await rm(kept);
});

test("the URL of TEST_NATS_URL is taken and never stopped", async () => {
  await using own = await startNats({ ownServer: true });
  const environment = { ...process.env, TEST_NATS_URL: own.url };
  const shared = await startNats({ environment });
  expect(shared).toMatchObject({ url: own.url, port: own.port, version: own.version, own: false });
  await expect(shared.kill()).rejects.toThrow(/TEST_NATS_URL is shared/);
  await shared[Symbol.asyncDispose]();
  await (await connect({ servers: own.url })).close();
  await using another = await startNats({ environment, ownServer: true });
  expect(another.port).not.toBe(own.port);
});

test("an impossible configuration fails with the end of the server's log", async () => {
  await expect(startNats({ config: "this is { not a configuration" })).rejects.toThrow(
    /nats-server ended with code 1 before it was ready[\s\S]*Parse error on line 1/,
  );
  expect(await ownFolders()).toEqual([]);
});

test("reload changes logins of a running server, whose process and connections stay", async () => {
  await using nats = await startNats({ config: "authorization { token: first }" });
  const { pid } = nats;
  await nats.reload("authorization { token: second }");
  expect(nats.pid).toBe(pid);
  await expect(connect({ servers: nats.url, token: "first", reconnect: false })).rejects.toThrow(/Authorization/);
  await (await connect({ servers: nats.url, token: "second", reconnect: false })).close();
});

test("a cluster of three keeps a replicated stream when a node is killed, and its nodes come back under their names", async () => {
  const pids: (number | null)[] = [];
  {
    await using cluster = await startNatsCluster();
    pids.push(...cluster.nodes.map(({ pid }) => pid));
    const connection = await connect({ servers: [...cluster.urls], maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    const manager = await jetstreamManager(connection);
    const { cluster: raft } = await manager.streams.add({ name: "S", subjects: ["s"], storage, num_replicas: 3 });
    expect(raft?.replicas).toHaveLength(2);
    for (let index = 0; index < 20; index += 1) await jetstream(connection).publish("s", String(index));
    const leader = cluster.node(raft?.leader as string);
    await leader.kill();
    await eventually(async () => (await jetstream(connection).publish("s", "more")).seq > 20, {
      deadlineMs: 30_000,
      what: "another leader",
    });
    await leader.restart();
    await eventually(
      async () => (await manager.streams.info("S")).cluster?.replicas?.every(({ current, offline }) => current && offline !== true),
      { deadlineMs: 30_000, what: "three current replicas" },
    );
    expect(() => cluster.node("n4")).toThrow(/no node/);
    await connection.close();
  }
  for (const pid of pids) expect(processState(pid as number)).toBe("gone");
});

import { TemporarySinkError } from "@sinks/core";
import { describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

describe.concurrent("a server that goes away", () => {
  test("SIGKILL and restart on the same data in mid-run, three times: everything is stored and acked", async () => {
    await using nats = await startNats({ ownServer: true });
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const count = 2000;
    await stage.fill(count);
    const sink = new RecordingSink({
      during: () => new Promise((done) => setImmediate(done)),
      outcome: ({ sequence, attempt }) => (sequence % 151 === 0 && attempt === 1 ? new TemporarySinkError("deadlock") : null),
    });
    const sections = { delivery: { batch_size: 20, max_retries: 1000 }, consumer_management: { ack_wait_seconds: 2 } };
    await using pipeline = await startPipeline(stage, sink, sections);
    for (let kills = 1; kills <= 3; kills += 1) {
      await eventually(() => sink.distinct >= kills * 450, { deadlineMs: 20_000, what: `${kills * 450} stored`, intervalMs: 1 });
      await nats.kill();
      await eventually(() => pipeline.runner.status().reasons.join().includes("disconnected"), { deadlineMs: 10_000, what: "red health" });
      await nats.restart();
    }
    await stage.settled(60_000);
    expect(sink.missing(count)).toEqual([]);
    expect(await stage.deadLetters()).toEqual([]);
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "green health" });
  });

  test("a kill during a write: the lease of before is settled after the restart, or the message comes again; never lost", async () => {
    await using nats = await startNats({ ownServer: true });
    await using stage = await Stage.open(nats.url);
    await stage.fill(50);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 1 ? gate.passed(signal) : undefined) });
    const sections = { delivery: { batch_size: 50, linger_ms: 300 }, consumer_management: { ack_wait_seconds: 2 } };
    await using pipeline = await startPipeline(stage, sink, sections);
    await eventually(() => sink.messagesInWrites > 0, { deadlineMs: 10_000, what: "the write" });
    await nats.kill();
    await nats.restart();
    await eventually(() => pipeline.runner.status().reasons.length === 0, { deadlineMs: 20_000, what: "the connection again" });
    gate.open();
    await stage.settled(30_000);
    expect(sink.missing(50)).toEqual([]);
  });

  test("a server that freezes and thaws: nothing is lost, nothing is dead-lettered", async () => {
    await using nats = await startNats({ ownServer: true });
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(600);
    const sink = new RecordingSink({ during: () => new Promise((done) => setImmediate(done)) });
    const sections = {
      delivery: { batch_size: 10, ack_confirmation: { timeout_ms: 300 } },
      consumer_management: { ack_wait_seconds: 1, max_deliver: 10 },
    };
    await using _pipeline = await startPipeline(stage, sink, sections);
    await eventually(() => sink.distinct >= 100, { deadlineMs: 10_000, what: "the first ones", intervalMs: 1 });
    await nats.freeze();
    const frozenAt = performance.now();
    await eventually(() => performance.now() - frozenAt > 2500, { deadlineMs: 10_000, what: "a long freeze" });
    await nats.thaw();
    await stage.settled(40_000);
    expect(sink.missing(600)).toEqual([]);
    expect(await stage.deadLetters()).toEqual([]);
  });

  test("FW-RUN-34 a message larger than any pull's room is fetched alone, without a byte limit", async () => {
    await using nats = await startNats({ ownServer: true, config: "max_payload: 2097152" });
    await using stage = await Stage.open(nats.url);
    await stage.publish("a", "small");
    await stage.publish("a", "x".repeat(1_500_000));
    await stage.publish("a", "small");
    await stage.connection.drain();
    // The limit was lowered since: no pull within it can bring the large one.
    await nats.restart({ config: "max_payload: 65536" });
    await using again = await stage.reopen();
    const sink = new RecordingSink();
    await using _pipeline = await startPipeline(again, sink, { delivery: { max_bytes_in_flight: 262_144, batch_max_bytes: 131_072 } });
    await again.settled();
    expect(sink.order().sort()).toEqual([1, 2, 3]);
    expect(sink.stored.find(({ sequence }) => sequence === 2)?.text).toHaveLength(1_500_000);
  });

  test("FW-RUN-32 FW-RUN-03 a durable consumer and a second start find everything after a restart of the server", async () => {
    await using nats = await startNats({ ownServer: true });
    await using stage = await Stage.open(nats.url);
    await stage.fill(30);
    const first = new RecordingSink();
    const one = await startPipeline(stage, first, {
      delivery: { batch_size: 10, max_in_flight_batches: 1 },
      consumer_management: { ack_wait_seconds: 2 },
    });
    await eventually(() => first.distinct >= 10, { deadlineMs: 10_000, what: "the first batch" });
    await nats.kill();
    const stopped = one.stop();
    await nats.restart();
    await stopped;
    const second = new RecordingSink();
    await using _two = await startPipeline(stage, second);
    await stage.settled(30_000);
    expect(new Set([...first.order(), ...second.order()]).size).toBe(30);
  });
});

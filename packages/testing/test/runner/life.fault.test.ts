import { CredentialsError, DestinationUnavailableError, PermanentSinkError, TemporarySinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { freePort } from "../../src/service/free-port.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { aborted, closedGate } from "./support/gate.js";
import { buildRunner, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

async function timed(work: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
}

describe.concurrent("FW-RUN-01 stops at odd moments", () => {
  test("a stop while the server is still looked for ends the start", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, {
      nats: { url: `nats://127.0.0.1:${await freePort()}` },
      delivery: { start_timeout_ms: 60_000 },
    });
    const started = runner.start().then(
      () => "started",
      () => "refused",
    );
    expect(await timed(runner.stop())).toBeLessThan(5000);
    expect(await started).toBe("refused");
    expect(sink.started).toBe(0);
  });

  test("a stop while the sink starts: the start is given up, the sink stopped and the connection closed", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const gate = closedGate();
    let starting = false;
    const sink = new RecordingSink({
      start: async () => {
        starting = true;
        await gate.passed();
      },
    });
    const { runner } = buildRunner(stage, sink, overWire(wire));
    const started = runner.start().then(
      () => "started",
      () => "refused",
    );
    await eventually(() => starting, { deadlineMs: 5000, what: "the sink to start" });
    const stopping = runner.stop();
    gate.open();
    await stopping;
    expect(await started).toBe("refused");
    await eventually(() => wire.proxy.connections === 0, { deadlineMs: 5000, what: "the connection to be closed" });
    expect(sink.stopped).toBe(1);
    expect(runner.status().state).toBe("stopped");
    expect(wire.pulls()).toEqual([]);
  });

  test("a runner that was started and never run is stopped cleanly", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const sink = new RecordingSink();
    {
      const { runner } = buildRunner(stage, sink, overWire(wire));
      await using disposed = runner;
      await disposed.start();
    }
    expect(sink).toMatchObject({ started: 1, stopped: 1 });
    await eventually(() => wire.proxy.connections === 0, { deadlineMs: 5000, what: "the connection to be closed" });
  });

  test("a runner may be started long before it runs", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(5);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, {}, { once: true });
    await runner.start();
    const startedAt = performance.now();
    await eventually(() => performance.now() - startedAt > 400, { deadlineMs: 5000, what: "several ticks" });
    expect(sink.writes).toEqual([]);
    expect(await runner.run()).toMatchObject({ stored: 5, complete: true });
  });

  test("run before start is refused, and start after a stop too", async () => {
    await using stage = await Stage.open(nats.url);
    const { runner } = buildRunner(stage, new RecordingSink());
    await expect(runner.run()).rejects.toThrow(/after its start/);
    await runner.stop();
    await expect(runner.start()).rejects.toThrow(/starts once/);
  });

  test("an error of an unknown kind from the sink's start is not taken for a server that does not answer", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink({
      start: () => {
        throw new TypeError("own bug");
      },
    });
    const { runner } = buildRunner(stage, sink, { delivery: { start_timeout_ms: 500 } });
    const failure = await runner.start().then(
      () => expect.fail("it started"),
      (error: Error) => error,
    );
    expect(failure.message).not.toContain("JetStream does not answer");
  });

  test("a sink that does not end its stop does not keep the runner", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({ stop: () => new Promise(() => undefined) });
    const pipeline = await startPipeline(stage, sink, { delivery: { shutdown_timeout_ms: 1000, abort_grace_ms: 500 } });
    await stage.settled();
    expect(await timed(pipeline.stop())).toBeLessThan(8000);
  });

  test("a sink whose stop fails masks nothing", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({ stop: () => Promise.reject(new TemporarySinkError("already closed")) });
    const pipeline = await startPipeline(stage, sink);
    await stage.settled();
    expect(await pipeline.stop()).toMatchObject({ stored: 3, complete: true });
    expect(pipeline.telemetry.texts("warn")).toContain("sink did not stop cleanly");
  });
});

describe.concurrent("FW-RUN-28 stops amid trouble", () => {
  test("in an outage: everything is given back without delay, within the time", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const sink = new RecordingSink({ outcome: () => new DestinationUnavailableError("connection refused") });
    const pipeline = await startPipeline(stage, sink, { delivery: { shutdown_timeout_ms: 2000 } });
    await eventually(() => !pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "red health" });
    expect(await timed(pipeline.stop())).toBeLessThan(8000);
    const next = new RecordingSink();
    await using _next = await startPipeline(stage, next);
    await eventually(() => next.distinct === 20, { deadlineMs: 8000, what: "the next runner to have them" });
  });

  test("with the stream gone: within the time", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(5);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const pipeline = await startPipeline(stage, sink, { delivery: { shutdown_timeout_ms: 1000, abort_grace_ms: 300 } });
    await eventually(() => sink.messagesInWrites > 0, { deadlineMs: 10_000, what: "the write" });
    await stage.manager.streams.delete(stage.name);
    gate.open();
    expect(await timed(pipeline.stop())).toBeLessThan(8000);
    expect(sink.stopped).toBe(1);
  });

  test("FW-DLQ-01 with a dead letter that cannot be published: the original is not acked", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(2);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 2 ? new PermanentSinkError("bad row") : null) });
    await using wire = await startWire(nats.port);
    wire.dropToServer = ({ subject }) => subject === `${stage.name}.dead`;
    const pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { shutdown_timeout_ms: 800, abort_grace_ms: 300 } }));
    await eventually(() => sink.attempts(2) === 1, { deadlineMs: 10_000, what: "the failure" });
    expect(await timed(pipeline.stop())).toBeLessThan(10_000);
    expect(wire.verbs("ack").map(({ sequence }) => sequence)).not.toContain(2);
    expect(await stage.deadLetters()).toEqual([]);
    wire.dropToServer = () => false;
    await using _next = await startPipeline(stage, new RecordingSink({ outcome: () => new PermanentSinkError("bad row") }), {
      nats: { url: wire.url },
    });
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending <= 1, { deadlineMs: 5000, what: "the rest" });
  });
});

describe.concurrent("FW-RUN-19 probes", () => {
  test("a health check that never answers is given up and repeated", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(6);
    let away = true;
    let checks = 0;
    const sink = new RecordingSink({
      during: () => {
        if (away) throw new DestinationUnavailableError("connection refused");
      },
      healthcheck: async () => {
        checks += 1;
        // The first one hangs and does not look at its signal; the destination is back with the second.
        if (checks === 1) await new Promise(() => undefined);
        away = false;
      },
    });
    await using pipeline = await startPipeline(stage, sink, { delivery: { abort_grace_ms: 200 } });
    await stage.settled();
    expect(checks).toBeGreaterThanOrEqual(2);
    expect(sink.stored).toHaveLength(6);
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 5000, what: "green health" });
  });

  test("an outage with nothing in flight any more ends by itself", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(1);
    let failures = 0;
    const sink = new RecordingSink({
      outcome: () => {
        failures += 1;
        return failures <= 2 ? new DestinationUnavailableError("failover") : null;
      },
    });
    await using pipeline = await startPipeline(stage, sink, { delivery: { retry_backoff_max_ms: 100 } });
    await stage.settled();
    await stage.fill(3);
    await stage.settled();
    expect(sink.missing(4)).toEqual([]);
    expect(pipeline.runner.status().healthy).toBe(true);
  });

  test("a fresh sink that cannot start either is tried again, and the old one is stopped once", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(4);
    let starts = 0;
    const sink: RecordingSink = new RecordingSink({
      start: () => {
        starts += 1;
        if (starts === 2 || starts === 3) throw new CredentialsError("password refused");
      },
      outcome: () => (starts < 4 ? new CredentialsError("token expired") : null),
    });
    await using pipeline = await startPipeline(stage, sink, { delivery: { retry_backoff_max_ms: 100 } });
    const info = await stage.settled();
    expect(starts).toBe(4);
    expect(info.delivered.consumer_seq).toBe(4);
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 5000, what: "green health" });
  });

  test("many writes that meet the outage at once make one outage, and the first probe that holds ends it for all", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(200);
    let away = true;
    const gate = closedGate();
    const sink = new RecordingSink({
      during: async (write, signal) => {
        if (write.number <= 8) await gate.passed(signal);
        if (away) throw new DestinationUnavailableError("connection refused");
      },
    });
    await using pipeline = await startPipeline(stage, sink, {
      delivery: { batch_size: 10, max_in_flight_batches: 8, max_retries: 0, retry_backoff_max_ms: 200 },
    });
    await eventually(() => sink.writes.length === 8, { deadlineMs: 10_000, what: "eight writes" });
    gate.open();
    await eventually(() => sink.writes.length >= 10, { deadlineMs: 10_000, what: "probes" });
    away = false;
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(200);
    expect(pipeline.telemetry.texts("warn").filter((text) => text.startsWith("destination unavailable"))).toHaveLength(1);
    expect(sink.stored).toHaveLength(200);
  });
});

describe.concurrent("FW-RUN-16 FW-RUN-13 a stuck write of an ordered lane", () => {
  test("nothing of its lane is written before it has ended, and then everything in order", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(8, (index) => (index % 2 === 0 ? "stuck" : "free"));
    const gate = closedGate();
    const sink = new RecordingSink({
      during: (write) => (write.sequences.includes(1) && write.attempts[0]?.attempt === 1 ? gate.passed() : undefined),
    });
    const sections = {
      consumer_management: { ack_wait_seconds: 1 },
      delivery: { ordering: "per_key", batch_size: 1, abort_grace_ms: 200, in_progress: { max_lease_ms: 300 } },
    };
    await using pipeline = await startPipeline(stage, sink, sections);
    await eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith("write_stuck")), {
      deadlineMs: 10_000,
      what: "write_stuck",
    });
    await eventually(() => sink.order(stage.subject("free")).length === 4, { deadlineMs: 10_000, what: "the free key" });
    const seen = performance.now();
    await eventually(() => performance.now() - seen > 1500, { deadlineMs: 5000, what: "redeliveries" });
    expect(sink.order(stage.subject("stuck"))).toEqual([]);
    gate.open();
    await stage.settled();
    const order = sink.order(stage.subject("stuck"));
    // The stuck one may be there twice, nothing of its lane before it.
    expect([...new Set(order)]).toEqual([1, 3, 5, 7]);
    expect(order.lastIndexOf(1)).toBeLessThan(order.indexOf(3));
  });

  test("an aborted write that reports in time keeps its lane in order", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(4);
    const sink = new RecordingSink({
      during: async (write, signal) => {
        if (write.sequences[0] !== 2 || write.attempts[0]?.attempt !== 1) return;
        await aborted(signal).catch(() => undefined);
        throw new TemporarySinkError("given up");
      },
    });
    await using _pipeline = await startPipeline(stage, sink, {
      delivery: { ordering: "strict", batch_size: 1, in_progress: { max_lease_ms: 300 } },
    });
    await stage.settled();
    expect(sink.order()).toEqual([1, 2, 3, 4]);
  });
});

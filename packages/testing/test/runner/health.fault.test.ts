import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { type RunningPipeline, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Pulls of these tests last 2 s, so that a heartbeat is due each second. */
const heartbeatMs = 1000;
const slowly = { delivery: { batch_timeout_ms: 2 * heartbeatMs } };

const words = ({ runner }: RunningPipeline): string[] => runner.status().reasons.map((reason) => reason.split(":")[0] as string);

function ready({ runner }: RunningPipeline): Promise<boolean> {
  return eventually(() => runner.status().ready, { deadlineMs: 10_000, what: "the pipeline to be ready" });
}

/** Waits for a word of health and tells how long it took. */
async function redAfter(pipeline: RunningPipeline, word: string): Promise<number> {
  const from = performance.now();
  await eventually(() => words(pipeline).includes(word), { deadlineMs: 15_000, what: `health to say ${word}` });
  return performance.now() - from;
}

function green({ runner }: RunningPipeline): Promise<boolean> {
  return eventually(() => runner.status().healthy, { deadlineMs: 20_000, what: "health to be green again" });
}

// One after another: each measures times.
describe("FW-RUN-06 FW-RUN-38 silence is never reported as idle", () => {
  test("FW-OBS-03 an idle pipeline is healthy, and ready from the first answer of the server on", async () => {
    await using stage = await Stage.open(nats.url);
    await using pipeline = await startPipeline(stage, new RecordingSink(), slowly);
    expect(pipeline.runner.status()).toMatchObject({ healthy: true, ready: false });
    await ready(pipeline);
    const until = performance.now() + 3 * heartbeatMs;
    const seen: string[][] = [];
    await eventually(
      () => {
        seen.push(words(pipeline));
        return performance.now() >= until;
      },
      { deadlineMs: 10_000, what: "three heartbeats to go by" },
    );
    expect(seen.flat()).toEqual([]);
  });

  test("a connection over which nothing comes any more is red within two heartbeats, and stays so until it is heard again", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await using pipeline = await startPipeline(stage, new RecordingSink(), overWire(wire, slowly));
    await ready(pipeline);
    wire.proxy.hold();
    const took = await redAfter(pipeline, "silent");
    // The last sign of life may be as old as a heartbeat, and health is looked at by a busy machine.
    expect(took).toBeLessThan(2 * heartbeatMs + 500);
    expect(pipeline.runner.status()).toMatchObject({ healthy: false, ready: false });
    const until = performance.now() + 3 * heartbeatMs;
    const green_: number[] = [];
    await eventually(
      () => {
        if (pipeline.runner.status().healthy) green_.push(performance.now());
        return performance.now() >= until;
      },
      { deadlineMs: 10_000, what: "three heartbeats of silence" },
    );
    expect(green_).toEqual([]);
    await wire.proxy.pass();
    await green(pipeline);
    await ready(pipeline);
  });

  test("a right to pull that was taken away is red: the server answers nothing to such a request", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await using pipeline = await startPipeline(stage, new RecordingSink(), overWire(wire, slowly));
    await ready(pipeline);
    // As a server without the right would: the request goes nowhere, everything else works.
    wire.dropToServer = (frame) => frame.subject?.includes(".CONSUMER.MSG.NEXT.") ?? false;
    await redAfter(pipeline, "silent");
    wire.dropToServer = () => false;
    await green(pipeline);
    await stage.fill(1);
    await stage.settled();
  });

  test("stream and consumer that cannot be read are red, and so is a lost connection", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await using pipeline = await startPipeline(stage, new RecordingSink(), overWire(wire, slowly));
    await ready(pipeline);
    wire.dropToServer = (frame) => /\$JS\.API\.(STREAM|CONSUMER)\.INFO\./.test(frame.subject ?? "");
    wire.proxy.cut();
    await redAfter(pipeline, "unverified");
    wire.dropToServer = () => false;
    await green(pipeline);
    await wire.proxy.refuse();
    wire.proxy.cut();
    await redAfter(pipeline, "disconnected");
    await wire.proxy.pass();
    await green(pipeline);
    expect(pipeline.telemetry.counter("nats_connection_disconnected_total")).toBeGreaterThanOrEqual(2);
    expect(pipeline.telemetry.counter("nats_connection_reconnected_total")).toBeGreaterThanOrEqual(2);
  });

  test("a consumer that refuses pulls is red with its limit", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ max_batch: 1 });
    await using pipeline = await startPipeline(stage, new RecordingSink(), slowly);
    await redAfter(pipeline, "pull_refused");
    await stage.manager.consumers.update(stage.name, stage.consumer, { max_batch: 0 });
    await green(pipeline);
  });

  test("a full flight asks for nothing and is healthy and ready: the destination is at work", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(stage, sink, {
      delivery: { ...slowly.delivery, batch_size: 4, max_in_flight_batches: 1, max_messages_in_flight: 8 },
    });
    await eventually(() => pipeline.runner.status().inFlight === 8, { deadlineMs: 10_000, what: "a full flight" });
    const until = performance.now() + 3 * heartbeatMs;
    await eventually(() => performance.now() >= until, { deadlineMs: 10_000, what: "three heartbeats to go by" });
    const status = pipeline.runner.status();
    expect(status).toMatchObject({ healthy: true, ready: true, inFlight: 8 });
    expect(status.oldestUnsettledMs).toBeGreaterThanOrEqual(3 * heartbeatMs);
    expect(status.ackPending).toBe(8);
    gate.open();
    await stage.settled();
  });
});

describe("FW-RUN-12 a second client of an ordered consumer", () => {
  test("waits for its turn and is healthy meanwhile: the server sends it heartbeats too", async () => {
    await using stage = await Stage.open(nats.url);
    const ordered = { delivery: { ...slowly.delivery, ordering: "strict" } };
    await using first = await startPipeline(stage, new RecordingSink(), ordered);
    await stage.fill(1);
    await stage.settled();
    await using second = await startPipeline(stage, new RecordingSink(), ordered);
    await ready(second);
    const until = performance.now() + 4 * heartbeatMs;
    const seen: string[][] = [];
    await eventually(
      () => {
        seen.push(words(first), words(second));
        return performance.now() >= until;
      },
      { deadlineMs: 10_000, what: "four heartbeats to go by" },
    );
    expect(seen.flat()).toEqual([]);
  });
});

describe("FW-OBS-06 a port that fails", () => {
  test("costs no message, whatever it throws", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(50);
    const fail = (): never => {
      throw new Error("the collector is away");
    };
    const sink = new RecordingSink();
    const telemetry = { enabled: fail, log: fail, count: fail, observe: fail };
    await using pipeline = await startPipeline(stage, sink, { metrics: { enabled: true } }, { telemetry });
    await stage.settled();
    expect([sink.stored.length, sink.missing(50)]).toEqual([50, []]);
    expect(pipeline.runner.status()).toMatchObject({ stored: 50, healthy: true });
  });
});

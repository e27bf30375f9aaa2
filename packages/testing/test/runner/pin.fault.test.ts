import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const ordered = { ordering: "strict", batch_size: 4, shutdown_timeout_ms: 0, abort_grace_ms: 0 };
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe.concurrent("FW-RUN-12 one client of an ordered consumer", () => {
  test("FW-RUN-13 a standby takes over from one that crashed, in order: first what was in its hands, then the rest", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await using standbyWire = await startWire(nats.port);
    await stage.fill(2);
    const sections = { delivery: ordered, consumer_management: { ack_wait_seconds: 4 } };
    const first = new RecordingSink({ during: (write) => (write.sequences.includes(3) ? new Promise(() => undefined) : undefined) });
    const second = new RecordingSink();
    const one = await startPipeline(stage, first, overWire(wire, sections));
    await eventually(() => first.distinct === 2, { deadlineMs: 10_000, what: "the first two" });
    await stage.settled();
    await using _two = await startPipeline(stage, second, overWire(standbyWire, sections));
    await eventually(() => standbyWire.pulls().length > 0, { deadlineMs: 10_000, what: "the standby to wait" });
    await stage.fill(6);
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 6, { deadlineMs: 10_000, what: "six in hand" });
    // Nothing of what it sends at its end arrives.
    await wire.proxy.refuse();
    wire.proxy.cut();
    await one.stop();
    await stage.fill(4);
    await stage.settled(30_000);
    expect(first.order()).toEqual([1, 2]);
    expect(second.order()).toEqual(range(3, 12));
  });

  test("a slow write with a full flight does not cost the pin: the standby gets nothing meanwhile", async () => {
    await using stage = await Stage.open(nats.url);
    await using standbyWire = await startWire(nats.port);
    await stage.fill(20);
    const sections = {
      delivery: { ...ordered, shutdown_timeout_ms: 20_000, max_messages_in_flight: 4 },
      consumer_management: { ack_wait_seconds: 10 },
    };
    // Longer than the server lets a silent client keep its pin.
    const long = { deadlineMs: 20_000, what: "a slow write" };
    const first = new RecordingSink({
      during: async ({ sequences, startedAt }) =>
        void (sequences.includes(1) && (await eventually(() => performance.now() - startedAt > 5000, long))),
    });
    const second = new RecordingSink();
    await using _one = await startPipeline(stage, first, sections);
    await eventually(() => first.messagesInWrites > 0, { deadlineMs: 10_000, what: "the slow write" });
    expect((await stage.consumerInfo()).config.priority_timeout).toBeLessThan(5e9);
    await using _two = await startPipeline(stage, second, overWire(standbyWire, sections));
    await eventually(() => standbyWire.pulls().length > 0, { deadlineMs: 10_000, what: "the standby to wait" });
    await stage.settled(30_000);
    expect(second.writes).toEqual([]);
    expect(first.order()).toEqual(range(1, 20));
  });
});

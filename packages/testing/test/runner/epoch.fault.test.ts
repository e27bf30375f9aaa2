import { PermanentSinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire, type Wire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const count = 20;

/**
 * Makes stream and consumer again under the same names, with as many new messages, all of them in another's hands: the
 * pulls of the runner on `wire` are lost until then.
 */
async function replaceStream(stage: Stage, wire: Wire, ackWaitMs: number): Promise<void> {
  await stage.manager.streams.delete(stage.name);
  // Only now: a pull that is lost before could not tell the runner of the deletion, which is the window that remains.
  wire.dropToServer = ({ subject }) => subject?.includes(".CONSUMER.MSG.NEXT.") === true;
  await stage.addStream();
  for (let index = 1; index <= count; index += 1) await stage.publish("a", `new ${index}`);
  await stage.addConsumer({ ack_wait: ackWaitMs * 1e6 });
  const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
  let taken = 0;
  for await (const message of await consumer.fetch({ max_messages: count, expires: 3000 })) taken += message.seq > 0 ? 1 : 0;
  expect(taken).toBe(count);
  wire.dropToServer = () => false;
}

/** A pull is open on the server, so that a deletion reaches the runner. */
const pullIsOpen = (stage: Stage) =>
  eventually(async () => (await stage.consumerInfo()).num_waiting > 0, { deadlineMs: 10_000, what: "an open pull", intervalMs: 5 });

const newOnes = (sink: RecordingSink): string[] => sink.stored.map(({ text }) => text).filter((text) => text.startsWith("new"));

describe.concurrent("FW-RUN-33 a stream that is made again under the same name", () => {
  for (const ack_mode of ["plain", "batch_confirmed", "confirmed"]) {
    test(`acks of the old deliveries never settle messages of the new stream (${ack_mode})`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(count);
      const gate = closedGate();
      const sink = new RecordingSink({ during: (write, signal) => (write.number <= 2 ? gate.passed(signal) : undefined) });
      const delivery = { ack_mode, batch_size: count / 2, max_in_flight_batches: 2, linger_ms: 300, ack_confirmation: { timeout_ms: 300 } };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
      await eventually(() => sink.messagesInWrites === count, { deadlineMs: 10_000, what: "all in writes" });
      await pullIsOpen(stage);
      await replaceStream(stage, wire, 4000);
      gate.open();
      await eventually(() => sink.stored.length >= count, { deadlineMs: 10_000, what: "the old writes to end" });
      // The runner has answered its doubt when it pulls again; until then, and after, none of the old acks may count.
      await eventually(() => pipeline.telemetry.events.some(({ event }) => event.includes("new one")), {
        deadlineMs: 10_000,
        what: "the new epoch",
      });
      const info = await stage.consumerInfo();
      expect(info.num_ack_pending).toBe(count);
      expect(info.ack_floor.stream_seq).toBe(0);
      await stage.settled(30_000);
      expect(new Set(newOnes(sink)).size).toBe(count);
    });
  }

  test("with nothing in flight: the new messages are all stored, under keys of their own", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(count);
    const keys: string[] = [];
    const sink = new RecordingSink({
      outcome: ({ envelope }) => {
        keys.push(envelope.idempotencyKey());
        return null;
      },
    });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire));
    await stage.settled();
    await pullIsOpen(stage);
    await replaceStream(stage, wire, 1000);
    await eventually(() => newOnes(sink).length >= count, { deadlineMs: 20_000, what: "the new ones" });
    await stage.settled();
    // FW-ENV-07: the same sequences under other keys, because the stream is another.
    expect(new Set(keys).size).toBe(2 * count);
  });

  test("replaced while the connection is down: the reconnect reads both times before it sends any ack", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(count);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 1 ? gate.passed(signal) : undefined) });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { batch_size: count, linger_ms: 300 } }));
    await eventually(() => sink.messagesInWrites === count, { deadlineMs: 10_000, what: "the write" });
    await wire.proxy.refuse();
    wire.proxy.cut();
    await replaceStream(stage, wire, 3000);
    gate.open();
    await eventually(() => sink.stored.length >= count, { deadlineMs: 10_000, what: "the old write to end" });
    const before = wire.sent.length;
    await wire.proxy.pass();
    await stage.settled(30_000);
    expect(new Set(newOnes(sink)).size).toBe(count);
    const after = wire.sent.slice(before);
    const firstVerb = after.findIndex(({ subject }) => subject.startsWith("$JS.ACK."));
    const read = (api: string) => after.findIndex(({ subject }) => subject.includes(`.${api}.INFO.`));
    expect(read("STREAM")).toBeGreaterThanOrEqual(0);
    expect(read("STREAM")).toBeLessThan(firstVerb);
    expect(read("CONSUMER")).toBeLessThan(firstVerb);
    // One ack per new message, none for an old one.
    expect(wire.verbs("ack")).toHaveLength(count);
  });

  test("held messages of the old stream are neither settled nor written into the new one", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(4);
    const sink = new RecordingSink({
      outcome: ({ envelope }) => (Buffer.from(envelope.data).includes('{"n":') ? new PermanentSinkError("bad row") : null),
    });
    await using pipeline = await startPipeline(stage, sink, overWire(wire));
    await eventually(() => pipeline.runner.status().held === 4, { deadlineMs: 10_000, what: "four held messages" });
    await pullIsOpen(stage);
    await replaceStream(stage, wire, 1500);
    await eventually(() => pipeline.runner.status().held === 0, { deadlineMs: 10_000, what: "the old ones to be let go" });
    await stage.settled(30_000);
    expect(new Set(newOnes(sink)).size).toBe(count);
    expect(sink.stored).toHaveLength(newOnes(sink).length);
  });

  test("an ordered pipeline goes on with the new stream in its order", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(6);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 1 ? gate.passed(signal) : undefined) });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { ordering: "strict", batch_size: 2 } });
    await eventually(() => sink.messagesInWrites === 1, { deadlineMs: 10_000, what: "the first write" });
    const { config } = await stage.consumerInfo();
    await stage.manager.streams.delete(stage.name);
    await stage.addStream();
    const { priority_groups = [], priority_policy = "none", priority_timeout = 0 } = config;
    await stage.addConsumer({ priority_groups, priority_policy, priority_timeout });
    for (let index = 1; index <= 10; index += 1) await stage.publish("a", `new ${index}`);
    gate.open();
    await eventually(() => newOnes(sink).length === 10, { deadlineMs: 20_000, what: "the new ones" });
    expect(newOnes(sink)).toEqual(Array.from({ length: 10 }, (_, index) => `new ${index + 1}`));
    await stage.settled();
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { natsCopies, onSubject } from "../../src/fault/nats-filter.js";
import { startProxy } from "../../src/fault/proxy.js";
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

const modes = ["plain", "batch_confirmed", "confirmed"];
const isAck = onSubject("$JS.ACK.>");

describe.concurrent("FW-RUN-22 FW-RUN-24 acks that are lost or come twice", () => {
  for (const ack_mode of modes) {
    test(`every third ack is lost on the way (${ack_mode}): each message ends settled, and none is lost`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await using wire = await startWire(nats.port);
      await stage.fill(60);
      let acks = 0;
      let lost = 0;
      wire.dropToServer = (frame) => {
        if (!isAck(frame) || !frame.payload.toString("latin1").startsWith("+ACK")) return false;
        acks += 1;
        if (acks % 3 !== 0 || lost >= 40) return false;
        lost += 1;
        return true;
      };
      const sink = new RecordingSink();
      const delivery = { ack_mode, batch_size: 10, ack_confirmation: { timeout_ms: 200 } };
      const sections = { delivery, consumer_management: { ack_wait_seconds: 1 } };
      await using _pipeline = await startPipeline(stage, sink, overWire(wire, sections));
      await eventually(() => sink.distinct === 60, { deadlineMs: 10_000, what: "all to be stored" });
      await stage.settled(30_000);
      expect(lost).toBeGreaterThan(10);
      expect(sink.missing(60)).toEqual([]);
      expect(await stage.deadLetters()).toEqual([]);
      // At least once: what was written twice is what an ack was lost for, no more.
      expect(sink.stored.length - 60).toBeLessThanOrEqual(lost);
    });

    test(`every ack comes twice (${ack_mode}): each message is settled once, and its neighbours are left alone`, async () => {
      await using stage = await Stage.open(nats.url);
      await using proxy = await startProxy({ port: nats.port, toServer: natsCopies((frame) => (isAck(frame) ? 2 : 1)) });
      await stage.fill(60);
      // Every fifth is slow, so that it is unsettled while acks of its neighbours are repeated.
      const sink = new RecordingSink({
        during: ({ sequences, startedAt }) =>
          sequences.some((sequence) => sequence % 5 === 0)
            ? eventually(() => performance.now() - startedAt > 50, { deadlineMs: 5000, what: "a slow write" }).then(() => undefined)
            : undefined,
      });
      const sections = { nats: { url: `nats://127.0.0.1:${proxy.port}` }, delivery: { ack_mode, batch_size: 1, max_in_flight_batches: 4 } };
      await using pipeline = await startPipeline(stage, sink, sections);
      const info = await stage.settled();
      expect(info.ack_floor).toMatchObject({ stream_seq: 60, consumer_seq: 60 });
      expect(info.num_redelivered).toBe(0);
      expect(sink.stored).toHaveLength(60);
      await eventually(() => pipeline.runner.status().inFlight === 0, { deadlineMs: 5000, what: "rest" });
    });
  }
});

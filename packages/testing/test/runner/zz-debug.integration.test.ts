import { PermanentSinkError, UnknownOutcomeError } from "@sinks/core";
import { test } from "vitest";
import { startNats } from "../../src/service/start-nats.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";
test("unknown", async () => {
  await using nats = await startNats();
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(12, (index) => (index % 2 === 0 ? "a" : "b"));
    const sink = new RecordingSink({
      retrySafety: "unsafe",
      outcome: ({ sequence, attempt }) => (sequence === 3 && attempt === 1 ? new UnknownOutcomeError("connection reset") : null),
    });
    await using p = await startPipeline(stage, sink, overWire(wire, { delivery: { ordering: "per_key", batch_size: 4, retry_backoff_ms: 50 } }));
    await stage.settled(3000).catch(() => undefined);
    console.log(sink.order(), p.runner.status(), wire.verbs().map(v => `${v.verb} ${v.sequence} ${v.deliveryCount} ${v.delayMs}`), sink.writes.map(w=>w.sequences));
    const i = await stage.consumerInfo(); console.log(i.num_ack_pending, i.num_pending, i.delivered, i.ack_floor);
});
test("park", async () => {
  await using nats = await startNats();
    await using stage = await Stage.open(nats.url, {deadLetters: true});
    await stage.fill(12, (index) => (index % 2 === 0 ? "bad" : "good"));
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 3 ? new PermanentSinkError("bad row") : null) });
    await using p = await startPipeline(stage, sink, { delivery: { ordering: "per_key", on_poison: "park_key", batch_size: 4 } });
    await stage.settled(2000).catch(() => undefined);
    console.log(sink.order(), p.runner.status());
    const i = await stage.consumerInfo(); console.log(i.num_ack_pending, i.num_pending, i.delivered, i.ack_floor);
});

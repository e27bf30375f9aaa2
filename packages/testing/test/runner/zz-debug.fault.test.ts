import {
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  TemporarySinkError,
  UnknownOutcomeError,
  type WriteOutcome,
} from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { type RunningPipeline, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { SeededRandom } from "./support/seeded-random.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire, type Wire, watchAcks } from "./support/wire.js";

import { OrderedLanes } from "/work/main/packages/core/src/runner/lanes.ts";
const giveUps: [number, string][] = [];
const realGiveUp = OrderedLanes.prototype.giveUp;
OrderedLanes.prototype.giveUp = function (sequence: never) { giveUps.push([performance.now(), `EVENT giveUp ${sequence} ${new Error().stack?.split("\n").slice(2, 4).map((l) => l.trim().slice(0, 90)).join(" < ")}`]); return realGiveUp.call(this, sequence); };
const realLose = OrderedLanes.prototype.loseLease;
OrderedLanes.prototype.loseLease = function (entry: never) { const later = realLose.call(this, entry); giveUps.push([performance.now(), `EVENT loseLease ${(entry as { sequence: number }).sequence} later ${later.map((e) => e.sequence).join()} awaited ${this.awaited().join()}`]); return later; };
let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const count = 240;
const keys = 6;
const keyOf = (sequence: number): number => (sequence - 1) % keys;
const isPoison = (sequence: number): boolean => sequence % 37 === 0;

/** A sink with every kind of failure; `record` is shared by all processes of a run. */
function moody(random: SeededRandom, ordered: boolean): RecordingSink {
  let away = 0;
  const outcome = (sequence: number): WriteOutcome => {
    if (isPoison(sequence)) return new PermanentSinkError("bad row");
    if (away > 0) {
      away -= 1;
      return new DestinationUnavailableError("failover");
    }
    if (random.chance(0.004)) away = 12;
    if (random.chance(0.03)) return new TemporarySinkError("deadlock");
    if (random.chance(0.01)) return new UnknownOutcomeError("connection reset");
    return random.chance(0.02) ? new NotAttemptedError("not sent") : null;
  };
  const retrySafety = random.pick(["safe", "unsafe"] as const);
  const yields = random.chance(0.5);
  return new RecordingSink({
    retrySafety,
    ...(ordered && random.chance(0.5) ? { orderedBatches: true as const } : {}),
    during: async () => {
      if (yields) await new Promise((done) => setImmediate(done));
      if (random.chance(0.01)) throw new TemporarySinkError("the whole batch");
    },
    outcome: ({ sequence }) => outcome(sequence),
  });
}

/** What happens to a runner next: its connection is cut, it stops in order, or it dies with everything it would still say. */
async function disturb(
  stage: Stage, trace: string[], log: [number, string][],
  random: SeededRandom,
  wire: Wire,
  pipeline: RunningPipeline,
  restart: () => Promise<RunningPipeline>,
): Promise<RunningPipeline> {
  const kind = random.pick(["cut", "stop", "die", "delete"]);
  trace.push(kind); log.push([performance.now(), "DISTURB " + kind]);
  if (kind === "delete") { await stage.manager.consumers.delete(stage.name, stage.consumer).catch(() => undefined); const i = await eventually(() => stage.consumerInfo().catch(() => null), { deadlineMs: 20000, what: "again" }); log.push([performance.now(), "made again " + JSON.stringify(i.config.opt_start_seq ?? i.config.deliver_policy)]); return pipeline; }
  if (kind === "cut") {
    wire.proxy.cut();
    return pipeline;
  }
  if (kind === "die") {
    await wire.proxy.refuse();
    wire.proxy.cut();
  }
  await pipeline.stop();
  await wire.proxy.pass();
  return restart();
}

/** Sequences of each key in the order in which they first became durable, where that order is not the stream's. */
function outOfOrder(sink: RecordingSink): number[][] {
  const found: number[][] = [];
  for (let key = 0; key < keys; key += 1) {
    const first = [...new Set(sink.order().filter((sequence) => keyOf(sequence) === key))];
    const sorted = first.toSorted((a, b) => a - b);
    if (first.join() !== sorted.join()) found.push(first);
  }
  return found;
}

describe.concurrent("FW-RUN-13 FW-RUN-22 FW-RUN-25 seeded runs with failures of every kind, cuts, stops and deaths", () => {
  for (const seed of [134, 140, 142, 134, 140, 142,134, 140, 142, 107, 143, 126,134, 140, 142, 134, 140, 142,134, 140, 142, 107, 143, 126]) {
    test(`seed ${seed}: everything is stored or dead-lettered, no ack goes first, orders are kept`, async () => {
      const random = new SeededRandom(seed);
      const ordering = random.pick(["per_key", "strict"]);
      const retention = random.pick(["limits", "workqueue"] as const);
      const batch_size = random.pick([1, 7, 40]);
      const trace: string[] = []; const log: [number, string][] = [];
      await using stage = await Stage.open(nats.url, { deadLetters: true, stream: { retention } });
      await using wire = await startWire(nats.port);
      const sink = moody(random, ordering !== "none");
      const early = watchAcks(wire, (sequence) => sink.copies(sequence) > 0 || isPoison(sequence));
      const sections = overWire(wire, {
        delivery: {
          ordering, on_consumer_missing: "recreate",
          ack_mode: random.pick(["plain", "batch_confirmed", "confirmed"]),
          batch_size,
          max_in_flight_batches: random.pick([1, 2, 6]),
          ...(random.chance(0.3) ? { max_messages_in_flight: batch_size + Math.floor(random.next() * 10) } : {}),
          temporary_failure_action: random.pick(["nak", "nak", "leave_unacked"]),
          linger_ms: random.pick([0, 0, 20]),
          max_retries: 100_000,
          retry_backoff_ms: 5,
          retry_backoff_max_ms: 50,
          retry_jitter: random.pick(["none", "full", "equal"]),
          shutdown_timeout_ms: 600,
          abort_grace_ms: 300,
          ack_confirmation: { timeout_ms: 400 },
        },
        consumer_management: random.chance(0.3) ? { backoff_seconds: [0.8, 1.5], max_deliver: 1000 } : { ack_wait_seconds: 1 },
      });
      wire.dropToClient = (frame) => { const t = frame.reply?.startsWith("$JS.ACK.") ? frame.reply.split(".") : null; if (t) log.push([performance.now(), `delivered ${t.at(-4)} count ${t.at(-5)} cseq ${t.at(-3)}`]); return false; };
      const start = async () => { const p = await startPipeline(stage, sink, sections); const original = p.telemetry.log.bind(p.telemetry); p.telemetry.log = (level, event, fields) => { log.push([performance.now(), `EVENT ${event} ${JSON.stringify(fields ?? {})}`]); original(level, event, fields); }; log.push([performance.now(), "EVENT started"]); return p; };
      let pipeline = await start();
      try {
        await stage.fill(count, (index) => `k${index % keys}`);
        for (const share of [0.2, 0.45, 0.7]) {
          await eventually(() => sink.distinct >= share * count, { deadlineMs: 40_000, what: `${share} stored`, intervalMs: 2 });
          pipeline = await disturb(stage, trace, log, random, wire, pipeline, start);
        }
        await stage.settled(60_000);
      } finally {
        await pipeline.stop();
      }
      const bad = outOfOrder(sink);
      if (bad.length > 0) {
        const wrong = new Set<number>();
        for (const list of bad) for (let i = 1; i < list.length; i += 1) if ((list[i] as number) < (list[i - 1] as number)) { for (let j = i; j >= 0 && (list[j] as number) >= (list[i] as number); j -= 1) wrong.add(list[j] as number); for (let j = i - 1; j >= 0 && (list[j] as number) > (list[i] as number); j -= 1) wrong.add(list[j] as number); }
        for (const v of wire.verbs()) log.push([v.at, `verb ${v.verb} ${v.sequence} count ${v.deliveryCount} ${v.delayMs}`]);
        for (const w of sink.writes) log.push([w.startedAt, `write ${w.sequences.join(",")}`]);
        for (const r of sink.stored) log.push([r.at, `stored ${r.sequence}`]);
        log.push(...giveUps); log.sort((a, b) => a[0] - b[0]);
        const t0 = log[0]?.[0] ?? 0;
        const keep = log.filter(([, text]) => /DISTURB|made|EVENT (?!giveUp|loseLease)/.test(text) || [...wrong].some((n) => new RegExp(`(^| |,)${n}(,| |$)`).test(text)));
        console.log("BAD", seed, trace.join(), ordering, retention, JSON.stringify(sections["delivery"]), [...wrong].join(), keep.map(([at, text]) => `${(at - t0) | 0} ${text}`).join("\n"));
      }
      const letters = (await stage.deadLetters()).map(({ record }) => Number(record["stream_sequence"]));
      const poison = Array.from({ length: count }, (_, index) => index + 1).filter(isPoison);
      expect(sink.missing(count)).toEqual(poison);
      // Each once, however often its publication was repeated.
      expect(letters.toSorted((a, b) => a - b)).toEqual(poison);
      expect(early).toEqual([]);
      if (ordering !== "none") expect(outOfOrder(sink)).toEqual([]);
      if (ordering === "strict") expect([...new Set(sink.order())]).toEqual([...new Set(sink.order())].toSorted((a, b) => a - b));
    });
  }
});

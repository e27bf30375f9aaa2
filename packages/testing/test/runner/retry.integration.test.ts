import { CredentialsError, DestinationUnavailableError, PermanentSinkError, TemporarySinkError, UnknownOutcomeError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { green, red } from "./support/health.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const temporary = () => new TemporarySinkError("deadlock");

/** Takes deliveries away from the runner, as a process that died with them would, until `count` deliveries were made. */
async function deliverBefore(stage: Stage, count: number): Promise<void> {
  const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
  for (let delivery = 1; delivery <= count; delivery += 1) {
    const message = await consumer.next({ expires: 5000 });
    expect(message?.info.deliveryCount).toBe(delivery);
    message?.nak();
  }
}

describe.concurrent("FW-RUN-18 delays", () => {
  for (const [mode, expected] of [
    ["fixed", [80, 80, 80, 80]],
    ["linear", [80, 160, 240, 300]],
    ["exponential", [80, 240, 300, 300]],
  ] as const) {
    test(`${mode}: every nak carries the delay of the policy, and the server keeps to it`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(3);
      const times: number[] = [];
      const sink = new RecordingSink({
        during: ({ sequences, startedAt }) => void (sequences.includes(2) && times.push(startedAt)),
        outcome: ({ sequence, attempt }) => (sequence === 2 && attempt <= 4 ? temporary() : null),
      });
      const delivery = { retry_backoff_mode: mode, retry_backoff_ms: 80, retry_backoff_max_ms: 300, retry_backoff_multiplier: 3 };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
      const info = await stage.settled();
      expect(wire.verbs("nak").map(({ sequence, delayMs }) => [sequence, delayMs])).toEqual(expected.map((delay) => [2, delay]));
      const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
      expect(waits.every((wait, index) => wait >= (expected[index] ?? 0) - 1)).toBe(true);
      expect(info.delivered.consumer_seq).toBe(7);
      expect([sink.attempts(1), sink.attempts(3)]).toEqual([1, 1]);
      expect(pipeline.runner.status()).toMatchObject({ retried: 4, stored: 3 });
    });
  }

  test("with a BackOff list the wait is the larger of policy and entry, sent without what the server adds", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.addConsumer({ backoff: [0.5e9, 1.2e9], max_deliver: 20 });
    await stage.fill(1);
    const starts: number[] = [];
    const sink = new RecordingSink({
      during: ({ startedAt }) => void starts.push(startedAt),
      outcome: ({ attempt }) => (attempt <= 2 ? temporary() : null),
    });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { retry_backoff_ms: 50 } }));
    await stage.settled();
    expect(wire.verbs("nak").map(({ delayMs }) => delayMs)).toEqual([500, 500]);
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(499);
    expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBeGreaterThanOrEqual(1199);
  });

  test("temporary_failure_action leave_unacked: no nak, the lease runs out", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(2);
    const sink = new RecordingSink({ outcome: ({ sequence, attempt }) => (sequence === 1 && attempt === 1 ? temporary() : null) });
    const sections = { delivery: { temporary_failure_action: "leave_unacked" }, consumer_management: { ack_wait_seconds: 0.5 } };
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(3);
    expect(wire.verbs("nak")).toEqual([]);
    expect(sink.order()).toEqual([2, 1]);
  });

  test("a delivery whose count is max_deliver is attempted, then dead-lettered or kept, never nak'd", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await using wire = await startWire(nats.port);
    await stage.addConsumer({ max_deliver: 3 });
    await stage.fill(1);
    await deliverBefore(stage, 2);
    const sink = new RecordingSink({ outcome: () => temporary() });
    const summary = await runOnce(stage, sink, overWire(wire));
    expect(summary).toMatchObject({ deadLettered: 1, complete: true });
    expect(sink.writes.flatMap(({ attempts }) => attempts).map(({ deliveryCount }) => deliveryCount)).toEqual([3]);
    expect(wire.verbs("nak")).toEqual([]);
    expect((await stage.deadLetters())[0]?.record).toMatchObject({ error_type: "RetryExhaustedError", delivery_count: 3 });
  });

  test("an unknown outcome on the last delivery is kept here, not given back", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.addConsumer({ max_deliver: 3 });
    await stage.fill(1);
    await deliverBefore(stage, 2);
    const sink = new RecordingSink({
      retrySafety: "unsafe",
      outcome: ({ attempt }) => (attempt === 1 ? new UnknownOutcomeError("connection reset") : null),
    });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire));
    await stage.settled();
    expect(wire.verbs("nak")).toEqual([]);
    expect(sink.copies(1)).toBe(1);
  });
});

describe.concurrent("FW-RUN-20 budget", () => {
  test("max_retries + 1 failures end in a dead letter that keeps the last cause, and the neighbours are stored", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(9);
    const sink = new RecordingSink({
      outcome: ({ sequence }) => (sequence === 5 ? new TemporarySinkError("deadlock", { destinationCode: "40P01" }) : null),
    });
    const summary = await runOnce(stage, sink, { delivery: { max_retries: 2 } });
    expect(summary).toMatchObject({ stored: 8, deadLettered: 1, retried: 2, complete: true });
    expect(sink.attempts(5)).toBe(3);
    const [letter] = await stage.deadLetters();
    expect(letter?.record).toMatchObject({
      stream_sequence: 5,
      error_type: "RetryExhaustedError",
      error_code: "retry_exhausted",
      destination_code: "40P01",
      delivery_count: 3,
    });
    expect(letter?.record["error"]).toContain("TemporarySinkError");
  });

  test("an error of an unknown class is temporary, budgeted and named unexpected", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(2);
    const sink = new RecordingSink({
      during: ({ sequences }) => {
        if (sequences.includes(1)) throw new TypeError("x is not a function");
      },
    });
    const summary = await runOnce(stage, sink, { delivery: { max_retries: 1, batch_size: 1 } });
    expect(summary).toMatchObject({ stored: 1, deadLettered: 1 });
    expect(sink.attempts(1)).toBe(2);
    expect((await stage.deadLetters())[0]?.record["error"]).toContain("unexpected");
  });

  test("an attempt that fails on delivery max_deliver - 1 has spent the budget", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(1);
    const sink = new RecordingSink({ outcome: () => temporary() });
    const summary = await runOnce(stage, sink, { delivery: { max_retries: 100 }, consumer_management: { max_deliver: 4 } });
    expect(summary).toMatchObject({ deadLettered: 1, complete: true });
    expect(sink.writes.flatMap(({ attempts }) => attempts).map(({ deliveryCount }) => deliveryCount)).toEqual([1, 2, 3]);
  });

  for (const [name, deadLetters, delivery] of [
    ["with no dead letters", false, {}],
    ["under retry_exhausted_action hold", true, { retry_exhausted_action: "hold" }],
  ] as const) {
    test(`${name} it is held under heartbeats and tried again every retry_backoff_max_ms`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters });
      await stage.fill(4);
      let repaired = false;
      const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 2 && !repaired ? temporary() : null) });
      await using pipeline = await startPipeline(stage, sink, {
        delivery: { max_retries: 1, retry_backoff_ms: 10, retry_backoff_max_ms: 400, ...delivery },
        consumer_management: { ack_wait_seconds: 1 },
      });
      await eventually(() => sink.attempts(2) >= 5, { deadlineMs: 20_000, what: "three attempts out of hold" });
      const starts = sink.writes.filter(({ sequences }) => sequences.includes(2)).map(({ startedAt }) => startedAt);
      expect((starts[4] ?? 0) - (starts[3] ?? 0)).toBeGreaterThanOrEqual(399);
      expect(sink.distinct).toBe(3);
      await eventually(() => pipeline.runner.status().held === 1, { deadlineMs: 5000, what: "the message to be held again" });
      expect((await stage.consumerInfo()).num_ack_pending).toBe(1);
      repaired = true;
      const info = await stage.settled();
      // One delivery each, and one that was nak'd before the budget was spent.
      expect(info.delivered.consumer_seq).toBe(5);
      expect(sink.missing(4)).toEqual([]);
      if (deadLetters) expect(await stage.deadLetters()).toEqual([]);
    });
  }
});

describe.concurrent("FW-RUN-19 outages", () => {
  for (const healthcheck of [false, true]) {
    test(`a destination that is away: held, no pull, no redelivery, no budget; then everything (${healthcheck ? "with" : "without"} a health check)`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await using wire = await startWire(nats.port);
      await stage.fill(60);
      let away = true;
      let checks = 0;
      const refuse = () => {
        if (away) throw new DestinationUnavailableError("connection refused");
      };
      const check = async () => {
        checks += 1;
        refuse();
      };
      const sink = new RecordingSink({ during: refuse, ...(healthcheck ? { healthcheck: check } : {}) });
      const sections = {
        consumer_management: { ack_wait_seconds: 1, max_deliver: 3 },
        delivery: { max_retries: 0, batch_size: 10, max_in_flight_batches: 2, retry_backoff_max_ms: 300 },
      };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
      await eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith("destination_unavailable")), {
        deadlineMs: 10_000,
        what: "red health",
      });
      const downAt = performance.now();
      // Long beyond ack_wait, and with more than max_deliver failures.
      await eventually(() => performance.now() - downAt > 2500 && sink.writes.length + checks >= 5, {
        deadlineMs: 20_000,
        what: "a long outage",
      });
      const late = wire.sent.filter(({ at, subject }) => at > downAt + 1000 && subject.includes(".MSG.NEXT."));
      expect(late).toEqual([]);
      const during = await stage.consumerInfo();
      expect(during.num_ack_pending).toBe(during.delivered.consumer_seq);
      expect(wire.verbs("nak")).toEqual([]);
      expect(sink.stored).toEqual([]);
      away = false;
      const info = await stage.settled();
      expect(info.delivered.consumer_seq).toBe(60);
      expect(info.num_redelivered).toBe(0);
      expect(sink.missing(60)).toEqual([]);
      expect(sink.stored).toHaveLength(60);
      expect(await stage.deadLetters()).toEqual([]);
      expect(pipeline.runner.status()).toMatchObject({ healthy: true, retried: 0, deadLettered: 0 });
      // A probe without a health check risks one message, not a batch.
      const probes = sink.writes.filter(({ startedAt, endedAt }) => startedAt > downAt && (endedAt ?? 0) < (sink.stored[0]?.at ?? 0));
      if (!healthcheck) expect(probes.every(({ sequences }) => sequences.length === 1)).toBe(true);
    });
  }

  test("FW-ERR-01 a refused login: a fresh sink with the secrets of that moment, until one is taken; nothing is dead-lettered", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(10);
    const environment = { PASSWORD: "old" };
    const logins: string[] = [];
    const sink: RecordingSink = new RecordingSink({
      outcome: () => (logins.at(-1) === "new" ? null : new CredentialsError("token expired")),
    });
    // As an application does it: a sink keeps the secret of the moment in which it was made.
    const create = () => {
      logins.push(environment.PASSWORD);
      return sink.create();
    };
    await using pipeline = await startPipeline(stage, { create }, { delivery: { max_retries: 0 } });
    await eventually(() => sink.started >= 3, { deadlineMs: 10_000, what: "two fresh sinks" });
    await red(pipeline, "destination_unavailable");
    expect(sink.stored).toEqual([]);
    environment.PASSWORD = "new";
    const info = await stage.settled();
    expect(logins.filter((login) => login === "new")).toHaveLength(1);
    expect(sink.started).toBe(logins.length);
    expect(sink.stopped).toBe(logins.length - 1);
    expect(sink.stored).toHaveLength(10);
    expect(info.delivered.consumer_seq).toBe(10);
    expect(await stage.deadLetters()).toEqual([]);
    await green(pipeline);
    expect(pipeline.runner.status()).toMatchObject({ retried: 0 });
  });

  test("ordered lanes keep their order through an outage", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(30);
    let failures = 0;
    const sink = new RecordingSink({
      outcome: ({ sequence }) => {
        if (sequence !== 7 || failures >= 3) return null;
        failures += 1;
        return new DestinationUnavailableError("failover");
      },
    });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { ordering: "strict", batch_size: 5, max_retries: 0 } });
    await stage.settled();
    expect(sink.order()).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });
});

describe.concurrent("FW-RUN-38 hold", () => {
  test("FW-DLQ-08 with dead letters off a permanent failure is held, not tried again, and nak'd without delay at stop", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(5);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 3 ? new PermanentSinkError("bad row") : null) });
    const sections = { consumer_management: { ack_wait_seconds: 0.6 }, delivery: { retry_backoff_max_ms: 100 } };
    const pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await eventually(() => wire.verbs("working").filter(({ sequence }) => sequence === 3).length >= 5, {
      deadlineMs: 10_000,
      what: "its lease to be kept",
    });
    expect(sink.attempts(3)).toBe(1);
    expect(pipeline.runner.status()).toMatchObject({ held: 1, healthy: true, stored: 4 });
    expect((await stage.consumerInfo()).num_ack_pending).toBe(1);
    expect(await pipeline.stop()).toMatchObject({ held: 1 });
    expect(wire.verbs("nak").map(({ sequence, delayMs }) => [sequence, delayMs])).toEqual([[3, null]]);
    const next = new RecordingSink();
    await using _again = await startPipeline(stage, next);
    await stage.settled();
    expect(next.order()).toEqual([3]);
  });

  test("at half of the window health is red held_limit with count and oldest sequence, and fetching pauses", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.addConsumer({ max_ack_pending: 20 });
    await stage.fill(2);
    await stage.fill(60, () => "bad");
    const sink = new RecordingSink({ outcome: ({ subject }) => (subject.endsWith("bad") ? new PermanentSinkError("bad row") : null) });
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { batch_size: 5, max_messages_in_flight: 5 } }));
    await eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith("held_limit")), {
      deadlineMs: 10_000,
      what: "held_limit",
    });
    await eventually(async () => (await stage.consumerInfo()).num_waiting === 0, { deadlineMs: 10_000, what: "the last pull to end" });
    const { held, reasons, inFlight } = pipeline.runner.status();
    expect(inFlight).toBe(0);
    expect(held).toBeGreaterThanOrEqual(10);
    expect(held).toBeLessThanOrEqual(20);
    expect(reasons.find((reason) => reason.startsWith("held_limit"))).toBe(
      `held_limit: ${held} messages are held, the oldest at sequence 3`,
    );
    expect((await stage.consumerInfo()).num_ack_pending).toBe(held);
    expect(sink.distinct).toBe(2);
  });

  test("health is red window_full while the consumer's window is used up with messages waiting", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ max_ack_pending: 4 });
    await stage.fill(10);
    // Another process holds the whole window.
    const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
    const others = await consumer.fetch({ max_messages: 4, expires: 2000 });
    const taken: { ack(): void }[] = [];
    for await (const message of others) taken.push(message);
    expect(taken).toHaveLength(4);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 4 } });
    await eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith("window_full")), {
      deadlineMs: 10_000,
      what: "window_full",
    });
    for (const message of taken) message.ack();
    await stage.settled();
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "green health" });
    expect(sink.order().sort((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
  });

  test("an operator pause keeps leases for max_lease_ms, then gives everything back", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(8);
    const sink = new RecordingSink({ outcome: () => new PermanentSinkError("bad row") });
    const sections = {
      consumer_management: { ack_wait_seconds: 0.5 },
      delivery: { batch_size: 4, in_progress: { max_lease_ms: 1500 } },
      dead_letter: { when_disabled: "stop" },
    };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await eventually(() => pipeline.runner.status().reasons.join().startsWith("paused: poison"), { deadlineMs: 10_000, what: "the pause" });
    const pausedAt = performance.now();
    await eventually(() => wire.verbs("nak").length === 8, { deadlineMs: 10_000, what: "everything to be given back" });
    const naks = wire.verbs("nak");
    expect(Math.min(...naks.map(({ at }) => at)) - pausedAt).toBeGreaterThan(1200);
    expect(naks.every(({ delayMs }) => delayMs === null)).toBe(true);
    expect(pipeline.runner.status().inFlight).toBe(0);
    // It stays paused: nobody pulls them again until it is restarted or resumed.
    const pulls = wire.pulls().length;
    const writes = sink.writes.length;
    for (let reading = 0; reading < 20; reading += 1) expect((await stage.consumerInfo()).num_ack_pending).toBe(8);
    expect(wire.pulls()).toHaveLength(pulls);
    expect(sink.writes).toHaveLength(writes);
  });
});

import { createHash, randomBytes } from "node:crypto";
import type { StreamConfig } from "@nats-io/jetstream";
import { PermanentSinkError } from "@sinks/core";
import { type DeadLetterEntry, openDeadLetterReader } from "@sinks/core/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const refusing = () => new RecordingSink({ outcome: () => new PermanentSinkError("bad row") });

/** A stage whose dead-letter stream has these limits. */
async function stageWith(limits: Partial<StreamConfig>): Promise<Stage> {
  const stage = await Stage.open(nats.url, { deadLetters: true });
  await stage.manager.streams.update(`${stage.name}_DEAD`, limits);
  return stage;
}

/** What `sinks dlq` sees: each letter once, whole. */
async function lettersOf(stage: Stage): Promise<DeadLetterEntry[]> {
  await using reader = await openDeadLetterReader(stage.configuration());
  const { entries } = await reader.list({ from: 1, limit: 100 });
  return await Promise.all(entries.map(async ({ sequence }) => (await reader.read(sequence)) as DeadLetterEntry));
}

async function storedMessages(stage: Stage): Promise<number> {
  return (await stage.manager.streams.info(`${stage.name}_DEAD`)).state.messages;
}

const bytesOf = ({ payload }: DeadLetterEntry): string =>
  createHash("sha256")
    .update(payload ?? "none")
    .digest("hex");
const digest = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

describe.concurrent("FW-DLQ-04 raw", () => {
  test("the dead letter is the original, byte for byte and header for header, with the record in headers", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const body = randomBytes(1000);
    await stage.publish("a", body, { "Nats-Msg-Id": "order-7", Team: "ünï ✓", "Nats-Sinks-Priority": "high" });
    expect(await runOnce(stage, refusing(), { dead_letter: { format: "raw" } })).toMatchObject({ deadLettered: 1, complete: true });
    const stored = await stage.manager.streams.getMessage(`${stage.name}_DEAD`, { seq: 1 });
    expect(Buffer.from(stored?.data ?? [])).toEqual(body);
    expect(stored?.header.get("Team")).toBe("ünï ✓");
    expect(stored?.header.get("Nats-Sinks-Original-Nats-Msg-Id")).toBe("order-7");
    expect(stored?.header.get("Nats-Msg-Id")).toMatch(/^[0-9a-f]{64}$/);
    const [letter] = await lettersOf(stage);
    expect(letter).toMatchObject({ stream: stage.name, streamSequence: 1, subject: stage.subject("a"), errorCode: "permanent" });
    expect(letter?.record).toMatchObject({ priority: "high", headers: { Team: "ünï ✓", "Nats-Msg-Id": "order-7" } });
    expect(bytesOf(letter as DeadLetterEntry)).toBe(digest(body));
  });
});

describe.concurrent("FW-DLQ-05 a record that is too large", () => {
  test("for the server's header block in raw stands in JSON", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const team = "x".repeat(64_500);
    await stage.publish("a", "small", { Team: team });
    expect(await runOnce(stage, refusing(), { dead_letter: { format: "raw" } })).toMatchObject({
      deadLettered: 1,
      held: 0,
      complete: true,
    });
    const [letter] = await stage.deadLetters();
    expect(letter?.record).toMatchObject({ headers: { Team: team } });
  });

  test("for JSON but not for raw is sent raw: a message as large as the server takes survives its dead letter", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const body = randomBytes(1_000_000);
    await stage.publish("a", body);
    expect(await runOnce(stage, refusing())).toMatchObject({ deadLettered: 1, held: 0, complete: true });
    expect(await storedMessages(stage)).toBe(1);
    expect((await lettersOf(stage)).map(bytesOf)).toEqual([digest(body)]);
  });

  test("for the stream is sent in ordered chunks, which a reader joins again", async () => {
    await using stage = await stageWith({ max_msg_size: 64_000 });
    const body = randomBytes(1_040_000);
    await stage.publish("a", body, { Team: "x" });
    await stage.publish("b", "small");
    expect(await runOnce(stage, refusing())).toMatchObject({ deadLettered: 2, held: 0, complete: true });
    const letters = await lettersOf(stage);
    expect(letters.map(bytesOf).sort()).toEqual([digest(body), digest(Buffer.from("small"))].sort());
    expect(letters.find(({ streamSequence }) => streamSequence === 1)?.record).toMatchObject({ headers: { Team: "x" } });
    expect(await storedMessages(stage)).toBeGreaterThan(15);
  });

  test("for max_bytes alone is cut as well, whatever the stream would take", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const body = randomBytes(30_000);
    await stage.publish("a", body);
    await runOnce(stage, refusing(), { dead_letter: { max_bytes: 8000 } });
    expect(await storedMessages(stage)).toBeGreaterThan(3);
    expect((await lettersOf(stage)).map(bytesOf)).toEqual([digest(body)]);
  });

  test("oversize metadata_only says that the body was left out", async () => {
    await using stage = await stageWith({ max_msg_size: 8000 });
    await stage.publish("a", randomBytes(30_000));
    expect(await runOnce(stage, refusing(), { dead_letter: { oversize: "metadata_only" } })).toMatchObject({
      deadLettered: 1,
      complete: true,
    });
    const [letter] = await stage.deadLetters();
    expect(letter?.record).toMatchObject({ payload_unavailable_reason: "too_large", payload: { original_size_bytes: 30_000 } });
  });

  test.each([
    ["oversize hold", { max_msg_size: 8000 }, { oversize: "hold" }],
    ["a stream too small for any form", { max_msg_size: 300 }, {}],
    ["a stream that keeps one message of a subject", { max_msg_size: 8000, max_msgs_per_subject: 1 }, {}],
    ["a stream that would discard the beginning for the end", { max_msg_size: 8000, max_bytes: 20_000 }, {}],
  ])("%s: the message is held, neither lost nor tried for ever, and the rest goes on", async (_, limits, deadLetter) => {
    await using stage = await stageWith(limits);
    await stage.publish("a", randomBytes(30_000));
    await stage.fill(5);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 1 ? new PermanentSinkError("bad row") : null) });
    await stage.addConsumer({ ack_wait: 1e9 });
    await using pipeline = await startPipeline(stage, sink, { dead_letter: deadLetter });
    await eventually(() => pipeline.runner.status().held === 1 && sink.distinct === 5, {
      deadlineMs: 20_000,
      what: "the message to be held",
    });
    const from = performance.now();
    await eventually(() => performance.now() - from > 2500, { deadlineMs: 10_000, what: "two and a half times ack_wait" });
    expect([sink.attempts(1), await storedMessages(stage)]).toEqual([1, 0]);
    expect(await stage.consumerInfo()).toMatchObject({ num_ack_pending: 1, num_redelivered: 0 });
    expect(pipeline.telemetry.counter("dlq_errors_total")).toBe(0);
  });

  test("after the stream has been enlarged a repair publishes what was held", async () => {
    await using stage = await stageWith({ max_msg_size: 300 });
    await stage.publish("a", "small but the record is not");
    const sink = refusing();
    await using pipeline = await startPipeline(stage, sink);
    await eventually(() => pipeline.runner.status().held === 1, { deadlineMs: 20_000, what: "the message to be held" });
    await stage.manager.streams.update(`${stage.name}_DEAD`, { max_msg_size: -1 });
    pipeline.runner.resume();
    await stage.settled();
    expect((await lettersOf(stage)).map(({ streamSequence }) => streamSequence)).toEqual([1]);
  });
});

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { silentTelemetry } from "@sinks/core";
import { eventually, makeTemporaryFolder, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ReadingsPipeline, runReadings } from "../src/pipeline.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Streams of its own for a test, and what the program is told about them. */
async function openCase(folder: string) {
  const name = `R${randomBytes(4).toString("hex")}`;
  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  await manager.streams.add({ name, subjects: [`${name}.in.>`] });
  await manager.streams.add({ name: `${name}_DEAD`, subjects: [`${name}.dead`] });
  const file = path.join(folder, "latest.json");
  const settings: ReadingsPipeline = {
    url: nats.url,
    stream: name,
    consumer: "latest",
    subject: `${name}.in.>`,
    deadLetterSubject: `${name}.dead`,
    file,
    once: true,
    telemetry: silentTelemetry,
    signal: new AbortController().signal,
  };
  return {
    manager,
    settings,
    publish: (sensor: string, body: string) => client.publish(`${name}.in.${sensor}`, body),
    deadLetters: async () => (await manager.streams.info(`${name}_DEAD`)).state.messages,
    latest: async () => JSON.parse(await readFile(file, "utf8")) as Record<string, { readonly value: number; readonly sequence: string }>,
    async [Symbol.asyncDispose]() {
      await manager.streams.delete(name);
      await manager.streams.delete(`${name}_DEAD`);
      await connection.close();
    },
  };
}

test("FW-RUN-01 FW-CLI-08 a program runs a pipeline into a sink of its own; what is no reading is dead-lettered alone", async () => {
  await using out = await makeTemporaryFolder("readings");
  await using job = await openCase(out.path);
  for (let value = 1; value <= 100; value += 1) await job.publish(value % 2 === 0 ? "kitchen" : "cellar", `{"value":${value}}`);
  await job.publish("kitchen", "not a reading");
  const summary = await runReadings(job.settings);
  expect(summary).toMatchObject({ received: 101, stored: 100, deadLettered: 1, held: 0, complete: true });
  expect(await job.latest()).toMatchObject({ cellar: { value: 99, sequence: "99" }, kitchen: { value: 100, sequence: "100" } });
  expect(await job.deadLetters()).toBe(1);
});

test("FW-ENV-06 the whole stream delivered once more changes nothing", async () => {
  await using out = await makeTemporaryFolder("readings");
  await using job = await openCase(out.path);
  for (const value of [3, 1, 2]) await job.publish("attic", `{"value":${value}}`);
  await runReadings(job.settings);
  const before = await job.latest();
  expect(before["attic"]).toMatchObject({ value: 2, sequence: "3" });
  const summary = await runReadings({ ...job.settings, consumer: "latest-again" });
  expect(summary).toMatchObject({ received: 3, stored: 3 });
  expect(await job.latest()).toEqual(before);
});

test("FW-RUN-28 an aborted signal drains and ends the run", async () => {
  await using out = await makeTemporaryFolder("readings");
  await using job = await openCase(out.path);
  const stop = new AbortController();
  const ended = runReadings({ ...job.settings, once: false, signal: stop.signal });
  await job.publish("attic", '{"value":7}');
  await eventually(async () => (await job.latest())["attic"]?.value === 7, { deadlineMs: 20_000, what: "the reading to be stored" });
  stop.abort();
  expect(await ended).toMatchObject({ stored: 1, complete: true, reason: null });
  const { num_ack_pending } = await job.manager.consumers.info(job.settings.stream, "latest");
  expect(num_ack_pending).toBe(0);
});

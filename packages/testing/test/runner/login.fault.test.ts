import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { startProxy } from "../../src/fault/proxy.js";
import { startNats } from "../../src/service/start-nats.js";
import { makeTemporaryFolder } from "../../src/service/temporary-folder.js";
import { green, red } from "./support/health.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

const decoder = new TextDecoder();

/** A key pair's public name for the server and its seed for a file. */
function newLogin() {
  const pair = nkeys.createUser();
  return { name: pair.getPublicKey(), seed: decoder.decode(pair.getSeed()) };
}

const seedFile = (seed: string) => `${seed}\n`;
/** As `nsc` writes it; a server without an operator looks at the key alone. */
const credsFile = (seed: string) =>
  `-----BEGIN NATS USER JWT-----\nnot.looked.at\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;

const withUsers = (...users: string[]) =>
  `no_auth_user: test\nauthorization { users: [{ user: test, password: test }, ${users.join(", ")}] }`;

describe.concurrent("FW-RUN-06 logins and rights that change under way", () => {
  for (const [key, text] of [
    ["nkey_seed_file", seedFile],
    ["creds_file", credsFile],
  ] as const) {
    test(`credentials rotated in nats.${key}: the next connect uses them, without a restart`, async () => {
      const [old, fresh] = [newLogin(), newLogin()];
      await using nats = await startNats({ config: withUsers(`{ nkey: ${old.name} }`) });
      await using proxy = await startProxy({ port: nats.port });
      await using folder = await makeTemporaryFolder("login");
      const file = join(folder.path, "login");
      await writeFile(file, text(old.seed), { mode: 0o600 });
      await using stage = await Stage.open(nats.url);
      await stage.fill(10);
      const sink = new RecordingSink();
      await using pipeline = await startPipeline(stage, sink, { nats: { url: `nats://127.0.0.1:${proxy.port}`, [key]: file } });
      await eventually(() => sink.distinct === 10, { deadlineMs: 10_000, what: "the first ten" });
      // The server forgets the old login and closes its connection; the file still has it.
      await nats.reload(withUsers(`{ nkey: ${fresh.name} }`));
      await red(pipeline, "disconnected");
      await stage.fill(10);
      // As a careful operator does it: written beside, then renamed.
      await writeFile(`${file}.new`, text(fresh.seed), { mode: 0o600 });
      await rename(`${file}.new`, file);
      await eventually(() => sink.distinct === 20, { deadlineMs: 10_000, what: "the rest under the new login" });
      await stage.settled();
      await green(pipeline);
      expect(sink.stored).toHaveLength(20);
    });
  }

  test("the right to pull is revoked and given again: red pull_refused meanwhile, and nothing is lost", async () => {
    const user = (deny: string) => withUsers(`{ user: sink, password: sink, permissions: { publish: { deny: [${deny}] } } }`);
    await using nats = await startNats({ config: user('"nothing"') });
    await using stage = await Stage.open(nats.url);
    await stage.fill(10);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(
      stage,
      sink,
      { nats: { url: nats.url, user: "sink", password_env: "SINK_PASSWORD" } },
      {
        environment: { SINK_PASSWORD: "sink" },
      },
    );
    await stage.settled();
    await nats.reload(user('"$JS.API.CONSUMER.MSG.NEXT.>"'));
    await red(pipeline, "pull_refused");
    await stage.fill(10);
    // A fault that lasts stays told.
    const seen = performance.now();
    await eventually(() => performance.now() - seen > 3500, { deadlineMs: 5000, what: "several refusals" });
    expect(pipeline.runner.status().reasons.join()).toContain("pull_refused");
    await nats.reload(user('"nothing"'));
    await eventually(() => sink.distinct === 20, { deadlineMs: 10_000, what: "the rest" });
    await stage.settled();
    await green(pipeline);
    expect(sink.stored).toHaveLength(20);
  });

  test("the rights to acknowledge and to ask are revoked: red within two heartbeats, stored messages come again, none is lost", async () => {
    const user = (deny: string) => withUsers(`{ user: sink, password: sink, permissions: { publish: { deny: [${deny}] } } }`);
    await using nats = await startNats({ config: user('"nothing"') });
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const sections = {
      nats: { url: nats.url, user: "sink", password_env: "SINK_PASSWORD" },
      delivery: { ack_confirmation: { timeout_ms: 300 } },
      consumer_management: { ack_wait_seconds: 1 },
    };
    await using pipeline = await startPipeline(stage, sink, sections, { environment: { SINK_PASSWORD: "sink" } });
    await eventually(async () => (await stage.consumerInfo()).num_waiting > 0, { deadlineMs: 10_000, what: "an open pull" });
    await nats.reload(user('"$JS.ACK.>", "$JS.API.STREAM.INFO.>"'));
    await stage.fill(10);
    await eventually(() => sink.stored.length > 0, { deadlineMs: 10_000, what: "the first to be stored", intervalMs: 5 });
    const storedAt = sink.stored[0]?.at ?? 0;
    await red(pipeline, "unverified");
    // Doubt begins when an ack stays unconfirmed; a heartbeat of these pulls comes every 250 ms. A second for a busy machine.
    expect(performance.now() - storedAt).toBeLessThan(300 + 2 * 250 + 1000);
    await eventually(() => sink.distinct === 10, { deadlineMs: 10_000, what: "all to be stored" });
    expect((await stage.consumerInfo()).ack_floor.stream_seq).toBe(0);
    await nats.reload(user('"nothing"'));
    await stage.settled();
    await green(pipeline);
  });
});

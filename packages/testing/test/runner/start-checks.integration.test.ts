import { DestinationUnavailableError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { failureOf } from "./support/failure-of.js";
import { buildRunner, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

describe.concurrent("FW-RUN-02 checks of a start", () => {
  const check = { id: "table", message: "there is no table", remedy: "create it, or correct sink.table" };

  test("FW-CLI-06 a destination's check that fails ends the start before the sink starts, with its name and remedy", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink({ preflight: async () => [{ ...check, status: "fail" }] });
    const { runner } = buildRunner(stage, sink);
    expect(await failureOf(runner.start())).toMatchObject({
      name: "ConfigurationError",
      message: "sink.table: there is no table; create it, or correct sink.table",
    });
    expect(sink).toMatchObject({ started: 0, stopped: 1 });
  });

  test("a destination that cannot be asked is waited for; a warning of it is logged once and what was skipped is not", async () => {
    await using stage = await Stage.open(nats.url);
    let asked = 0;
    let started = 0;
    const sink = new RecordingSink({
      preflight: async () => {
        asked += 1;
        if (asked === 1) throw new DestinationUnavailableError("connection refused");
        return [
          { ...check, status: "warn" },
          { id: "rights", status: "skipped", message: "not asked", remedy: null },
        ];
      },
      start: () => {
        started += 1;
        if (started === 1) throw new DestinationUnavailableError("gone again");
      },
    });
    await using pipeline = await startPipeline(stage, sink);
    expect([asked, started]).toEqual([3, 2]);
    const said = pipeline.telemetry.texts("warn").filter((text) => text.startsWith("sink."));
    expect(said).toEqual(["sink.table: there is no table; create it, or correct sink.table"]);
  });

  test("checks that hang end with the limit of the start, as an outage", async () => {
    await using stage = await Stage.open(nats.url);
    let gaveUp = false;
    const preflight = (signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener("abort", () => (gaveUp = true), { once: true }));
    const sink = new RecordingSink({ preflight });
    const { runner } = buildRunner(stage, sink, { delivery: { start_timeout_ms: 300 } });
    expect(await failureOf(runner.start())).toMatchObject({ code: "destination_unavailable" });
    expect([gaveUp, sink.started]).toEqual([true, 0]);
  });

  for (const [right, denied, subject] of [
    ["ask for messages", "$JS.API.CONSUMER.MSG.NEXT.>", (name: string) => `$JS.API.CONSUMER.MSG.NEXT.${name}.sink`],
    ["acknowledge messages", "$JS.ACK.>", (name: string) => `$JS.ACK.${name}.sink.>`],
  ] as const) {
    test(`a login that may not ${right} is refused with the subject to allow, and nothing is delivered`, async () => {
      await using own = await startNats({
        config: `no_auth_user: test\nauthorization { users: [
          { user: test, password: test }, { user: poor, password: poor, permissions: { publish: { deny: ["${denied}"] } } } ] }`,
      });
      await using stage = await Stage.open(own.url);
      await stage.fill(3);
      const sink = new RecordingSink();
      const { runner } = buildRunner(stage, sink, { nats: { user: "poor", password: "poor" } });
      const failure = await failureOf(runner.start());
      expect(failure).toMatchObject({ name: "ConfigurationError", code: "credentials_refused" });
      expect(failure.message).toContain(`may not ${right}`);
      expect(failure.message).toContain(`allow publishing to ${subject(stage.name)}`);
      expect(sink.started).toBe(0);
      expect((await stage.consumerInfo()).delivered.consumer_seq).toBe(0);
    });
  }

  test("the probes of a login's rights take, settle and give back nothing", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const { runner } = buildRunner(stage, new RecordingSink());
    await runner.start();
    expect(await stage.consumerInfo()).toMatchObject({
      num_ack_pending: 0,
      num_pending: 3,
      num_waiting: 0,
      ack_floor: { stream_seq: 0 },
    });
    await runner.stop();
  });

  test("ready is said when pulls may begin, not by the start alone", async () => {
    await using stage = await Stage.open(nats.url);
    const { runner, telemetry } = buildRunner(stage, new RecordingSink());
    await runner.start();
    expect(telemetry.texts("info")).not.toContain("ready");
    const ended = runner.run();
    expect(telemetry.texts("info")).toContain("ready");
    await runner.stop();
    await ended;
  });
});

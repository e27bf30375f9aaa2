import { ConfigurationError, CredentialsError, DestinationUnavailableError, isErrorKind, PermanentSinkError } from "@sinks/core";
import { createRunner } from "@sinks/core/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { freePort } from "../../src/service/free-port.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { failureOf } from "./support/failure-of.js";
import { buildRunner, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

describe.concurrent("FW-RUN-01 life of a runner", () => {
  test("createRunner refuses an invalid configuration and does no I/O for a valid one", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const sink = new RecordingSink();
    const configuration = stage.configuration(overWire(wire));
    const broken = { ...configuration, delivery: { ...configuration.delivery, batch_size: 0 } };
    expect(() => createRunner({ configuration: broken, createSink: sink.create })).toThrow(/delivery\.batch_size/);
    const runner = createRunner({ configuration, createSink: sink.create });
    expect(runner.status()).toMatchObject({ state: "created", received: 0 });
    await runner[Symbol.asyncDispose]();
    expect(wire.proxy.bytes).toEqual({ toServer: 0, toClient: 0, lost: 0 });
    expect(sink.started).toBe(0);
  });

  test("when the sink cannot start, the sink is stopped, then the connection closed, and nothing was pulled", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(1);
    let openAtStop = 0;
    const sink = new RecordingSink({
      start: () => Promise.reject(new PermanentSinkError("no such table")),
      stop: () => {
        openAtStop = wire.proxy.connections;
      },
    });
    const { runner } = buildRunner(stage, sink, overWire(wire));
    expect(await failureOf(runner.start())).toMatchObject({ name: "PermanentSinkError", message: "no such table" });
    expect(sink).toMatchObject({ started: 0, stopped: 1 });
    expect(openAtStop).toBe(1);
    expect(wire.pulls()).toEqual([]);
    await eventually(() => wire.proxy.connections === 0, { deadlineMs: 5000, what: "the connection to be closed" });
    expect(runner.status().state).toBe("stopped");
    await expect(runner.start()).rejects.toThrow(/starts once/);
  });

  test("a runner that was disposed leaves no connection, and the sink is stopped once", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const sink = new RecordingSink();
    const pipeline = await startPipeline(stage, sink, overWire(wire));
    await Promise.all([pipeline.stop(), pipeline.runner.stop(), pipeline[Symbol.asyncDispose]()]);
    expect(sink).toMatchObject({ started: 1, stopped: 1 });
    await eventually(() => wire.proxy.connections === 0, { deadlineMs: 5000, what: "the connection to be closed" });
    expect(pipeline.runner.status()).toMatchObject({ state: "stopped", inFlight: 0 });
  });

  test("a start that is aborted while it waits gives up at once", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, {
      nats: { url: `nats://127.0.0.1:${await freePort()}` },
      delivery: { start_timeout_ms: 60_000 },
    });
    const abort = new AbortController();
    const failed = failureOf(runner.start(abort.signal));
    abort.abort();
    expect(await failed).toMatchObject({ code: "connection_failed" });
    expect(sink.started).toBe(0);
  });
});

describe.concurrent("FW-RUN-02 order of a start", () => {
  test("the consumer is there before the sink starts, and nothing is pulled before the sink is up", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(3);
    const atSinkStart: { consumer: boolean; pulls: number }[] = [];
    const sink = new RecordingSink({
      start: async () => {
        const consumer = await stage.consumerInfo().then(Boolean, () => false);
        atSinkStart.push({ consumer, pulls: wire.pulls().length });
      },
    });
    await using pipeline = await startPipeline(stage, sink, overWire(wire));
    await stage.settled();
    expect(atSinkStart).toEqual([{ consumer: true, pulls: 0 }]);
    expect(pipeline.telemetry.texts("info")).toContain("ready");
    expect(wire.pulls().length).toBeGreaterThan(0);
  });

  test("secrets come first: a missing one ends the start before anything is connected", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, overWire(wire, { nats: { token_env: "SINKS_ABSENT" } }), { environment: {} });
    const failure = await failureOf(runner.start());
    expect(failure).toMatchObject({ name: "ConfigurationError", code: "secret_missing" });
    expect(failure.message).toContain("SINKS_ABSENT");
    expect(wire.proxy.bytes.toServer).toBe(0);
    expect(sink.started).toBe(0);
  });

  test("a preflight check that fails stops the start before the sink: a dead letter subject that no stream captures", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, { dead_letter: { enabled: true, subject: `${stage.name}.nowhere` } });
    const failure = await failureOf(runner.start());
    expect(isErrorKind(failure, "ConfigurationError")).toBe(true);
    expect(failure.message).toMatch(/^dead_letter\.subject: no stream captures/);
    expect(sink.started).toBe(0);
  });

  test("FW-DLQ-01 the dead letter subject must belong to the stream that is named", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const { runner } = buildRunner(stage, new RecordingSink(), { dead_letter: { stream: "ELSEWHERE" } });
    expect((await failureOf(runner.start())).message).toContain(`captured by stream "${stage.name}_DEAD", not "ELSEWHERE"`);
  });

  test("FW-DLQ-08 a setting that drops messages is warned of at start", async () => {
    await using stage = await Stage.open(nats.url);
    const dropping = { dead_letter: { enabled: false, when_disabled: "discard" } };
    await using pipeline = await startPipeline(stage, new RecordingSink(), dropping);
    expect(pipeline.telemetry.texts("warn").filter((text) => text.startsWith("dead_letter.when_disabled is discard"))).toHaveLength(1);
    await using other = await Stage.open(nats.url);
    await using holding = await startPipeline(other, new RecordingSink(), { dead_letter: { enabled: false } });
    expect(holding.telemetry.texts("warn").filter((text) => text.includes("discard"))).toEqual([]);
  });

  test("a preflight check that lacks a permission warns, and the run goes on", async () => {
    const config = `
      no_auth_user: owner
      authorization { users: [
        { user: owner, password: owner },
        { user: limited, password: limited, permissions: { publish: { deny: ["$JS.API.STREAM.NAMES"] } } },
      ] }`;
    await using own = await startNats({ config });
    await using stage = await Stage.open(own.url, { deadLetters: true });
    await stage.fill(5);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, { nats: { user: "limited", password: "limited" } });
    await stage.settled();
    expect(pipeline.telemetry.texts("warn")).toContain("cannot check the dead letter stream");
    expect(sink.missing(5)).toEqual([]);
  });

  test("FW-RUN-34 max_bytes_in_flight below max_payload and 64 KiB ends the start with the least value", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, { delivery: { max_bytes_in_flight: 1_048_576 } });
    const failure = await failureOf(runner.start());
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure.message).toMatch(/^delivery\.max_bytes_in_flight: must be at least 1114112/);
    expect(sink.started).toBe(0);
  });
});

describe.concurrent("FW-RUN-32 what start waits for", () => {
  test("a missing stream is a configuration error in every mode, at once", async () => {
    await using stage = await Stage.open(nats.url);
    for (const mode of ["bind_only", "create_if_missing", "reconcile"]) {
      const { runner } = buildRunner(stage, new RecordingSink(), { nats: { stream: "ABSENT" }, consumer_management: { mode } });
      const failure = await failureOf(runner.start());
      expect(failure).toMatchObject({ name: "ConfigurationError", code: "stream_missing" });
      expect(failure.message).toContain('there is no stream "ABSENT"');
    }
  });

  test("a missing consumer is a configuration error under bind_only, and none is made", async () => {
    await using stage = await Stage.open(nats.url);
    const { runner } = buildRunner(stage, new RecordingSink(), { consumer_management: { mode: "bind_only" } });
    expect(await failureOf(runner.start())).toMatchObject({ name: "ConfigurationError", code: "consumer_missing" });
    await expect(stage.consumerInfo()).rejects.toThrow(/not found/);
  });

  test("an unreachable server is tried until start_timeout_ms, then named as connection_failed", async () => {
    await using stage = await Stage.open(nats.url);
    const port = await freePort();
    const { runner, telemetry } = buildRunner(stage, new RecordingSink(), {
      nats: { url: `nats://127.0.0.1:${port}` },
      delivery: { start_timeout_ms: 1500 },
    });
    const began = performance.now();
    const failure = await failureOf(runner.start());
    expect(failure).toMatchObject({ name: "SinksError", code: "connection_failed" });
    expect(failure.message).toBe(
      `nats.url: cannot connect to 127.0.0.1:${port} (ConnectionError); start the server, or correct the address`,
    );
    expect(performance.now() - began).toBeGreaterThan(400);
    // Tried several times, told once: the reason did not change.
    expect(telemetry.texts("warn").filter((text) => text === "not ready yet")).toHaveLength(1);
  });

  test("a server that comes back within start_timeout_ms is taken, not ready meanwhile", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await wire.proxy.refuse();
    const { runner, telemetry } = buildRunner(stage, new RecordingSink(), overWire(wire));
    const started = runner.start();
    await eventually(() => telemetry.texts("warn").includes("not ready yet"), { deadlineMs: 5000, what: "a failed attempt" });
    expect(runner.status().state).toBe("starting");
    expect(telemetry.texts("info")).not.toContain("ready");
    await wire.proxy.pass();
    await started;
    expect(runner.status().state).toBe("running");
    await runner.stop();
  });

  test("JetStream that does not answer is waited for, then the start ends as unreachable", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    wire.dropToServer = (frame) => frame.subject?.startsWith("$JS.API.") === true;
    const { runner } = buildRunner(stage, new RecordingSink(), overWire(wire, { delivery: { start_timeout_ms: 300 } }));
    expect(await failureOf(runner.start())).toMatchObject({ name: "SinksError", code: "connection_failed" });
  });

  test("a refused login reads the secrets once more, then it is a configuration error", async () => {
    await using own = await startNats({ config: "authorization { token: right }" });
    await using stage = await Stage.open(nats.url);
    let reads = 0;
    const environment = {
      get TOKEN() {
        reads += 1;
        return "wrong";
      },
    };
    const sections = { nats: { url: own.url, token_env: "TOKEN" } };
    const { runner } = buildRunner(stage, new RecordingSink(), sections, { environment });
    const failure = await failureOf(runner.start());
    expect(failure).toMatchObject({ name: "ConfigurationError", code: "credentials_refused" });
    expect(failure.message).not.toContain("wrong");
    expect(reads).toBe(2);
  });

  test("a login that was rotated between two reads of the secrets is taken", async () => {
    await using own = await startNats({
      config: "no_auth_user: open\nauthorization { users: [{ user: open, password: open }, { user: app, password: new }] }",
    });
    await using stage = await Stage.open(own.url);
    const passwords = ["old", "new"];
    const environment = {
      get PASSWORD() {
        return passwords.length > 1 ? passwords.shift() : passwords[0];
      },
    };
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, { nats: { user: "app", password_env: "PASSWORD" } }, { environment });
    expect(pipeline.runner.status()).toMatchObject({ state: "running", healthy: true });
  });

  test("a destination that refuses the login is asked once more with the secrets read anew, then it is a configuration error", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(1);
    const logins: string[] = [];
    const sink = new RecordingSink({ start: () => Promise.reject(new CredentialsError("password authentication failed")) });
    const create = () => {
      logins.push(`login ${logins.length + 1}`);
      return sink.create();
    };
    const { runner } = buildRunner(stage, { create }, overWire(wire));
    const failure = await failureOf(runner.start());
    expect(failure).toMatchObject({
      name: "ConfigurationError",
      code: "credentials_refused",
      message: "sink recording: password authentication failed",
    });
    expect(logins).toEqual(["login 1", "login 2"]);
    expect(sink).toMatchObject({ started: 0, stopped: 2 });
    expect(wire.pulls()).toEqual([]);
    expect(runner.status().state).toBe("stopped");
  });

  test("a destination's login that was rotated between two reads is taken, and the first sink is stopped", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const passwords = ["old", "new", "newer"];
    let login: string | undefined;
    const sink = new RecordingSink({
      start: () => {
        if (login !== "new") throw new CredentialsError("password authentication failed");
      },
    });
    const create = () => {
      login = passwords.shift();
      return sink.create();
    };
    await using pipeline = await startPipeline(stage, { create });
    await stage.settled();
    expect(sink).toMatchObject({ started: 1, stopped: 1 });
    expect(passwords).toEqual(["newer"]);
    expect(pipeline.runner.status()).toMatchObject({ state: "running", healthy: true, stored: 3 });
  });

  test("a destination that is away at start is waited for, with a fresh sink each time", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    let attempts = 0;
    const sink = new RecordingSink({
      start: () => {
        attempts += 1;
        if (attempts < 3) throw new DestinationUnavailableError("connection refused");
      },
    });
    await using pipeline = await startPipeline(stage, sink);
    expect(sink).toMatchObject({ started: 1, stopped: 2 });
    await stage.settled();
    expect(pipeline.runner.status().stored).toBe(3);
  });
});

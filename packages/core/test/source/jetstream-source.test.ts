import { describe, expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import type { Confirmation } from "../../src/source/confirmation.js";
import { JetStreamSource } from "../../src/source/jetstream-source.js";
import type { Link } from "../../src/source/link.js";
import type { SourceEvents } from "../../src/source/source-events.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { FakeConnection } from "../fakes/fake-connection.js";

const created = "2026-01-01T00:00:00Z";
const configuration = validateConfiguration({
  nats: { url: "nats://127.0.0.1:1", stream: "EVENTS", consumer: "sink", subject: "events.>" },
  sink: { type: "probe" },
});

/** A source whose server answers when the test says so. */
class Sourcing {
  now = 0;
  readonly connection = new FakeConnection();
  /** What was read, in order. */
  readonly readings: string[] = [];
  confirmation: Confirmation = "confirmed";
  readonly source: JetStreamSource;
  #answer: () => void = () => undefined;
  #answered = Promise.resolve();

  constructor() {
    const read = (what: string) => async () => {
      this.readings.push(what);
      await this.#answered;
      return { created };
    };
    const link = {
      connection: this.connection.connection,
      manager: { streams: { info: read("stream") }, consumers: { info: read("consumer") } },
      confirmations: { confirm: async () => this.confirmation },
      features: { version: "2.12.0", current: true, priorityGroups: true },
      bound: { stream: { created }, consumer: { created }, warnings: [] },
      group: null,
      inbox: "_INBOX.x",
      maxPayload: 1_000_000,
    } as unknown as Link;
    const events = new Proxy({} as SourceEvents, { get: () => () => undefined });
    this.source = new JetStreamSource(configuration, link, silentTelemetry, events, () => this.now);
    // The parts of a start that need no connection.
    Object.assign(this.connection, { status: () => [], isClosed: () => false });
  }

  /** The server keeps silent from now on. */
  silence(): void {
    this.#answered = new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  async answer(): Promise<void> {
    this.#answer();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets the time pass as a running loop does: a tick each 100 ms. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += 100;
      this.source.tick(this.now);
    }
  }
}

const both = ["stream", "consumer"];

describe("FW-RUN-33 no ack verb is sent before both creation times were read again", () => {
  test("every 30 s while no pull is open", async () => {
    const run = new Sourcing();
    run.silence();
    run.pass(29_900);
    expect([run.source.trusted, run.readings]).toEqual([true, []]);
    run.pass(100);
    expect(run.source.trusted).toBe(false);
    await run.answer();
    expect([run.source.trusted, run.readings]).toEqual([true, both]);
    run.pass(30_000);
    expect(run.source.trusted).toBe(false);
    await run.answer();
    expect(run.readings).toEqual([...both, ...both]);
  });

  test("never while pulls are open: the server speaks on them", () => {
    const run = new Sourcing();
    run.source.start();
    run.source.pull(1, null);
    expect(run.source.openPulls).toBe(1);
    for (let second = 0; second < 45; second += 1) {
      run.pass(1000);
      run.connection.status(run.connection.inbox(0), 100);
    }
    expect([run.source.trusted, run.readings]).toEqual([true, []]);
  });

  test("after the process stood still for a second, in front of the very next ack", async () => {
    const run = new Sourcing();
    run.pass(1000);
    run.silence();
    run.now += 999;
    expect(run.source.trusted).toBe(true);
    run.now += 1;
    expect(run.source.trusted).toBe(false);
    await run.answer();
    expect([run.source.trusted, run.readings]).toEqual([true, both]);
  });

  test("after a 503 on an ack", async () => {
    const run = new Sourcing();
    run.silence();
    expect(await run.source.confirm("$JS.ACK.EVENTS.sink.1.1.1.1.0", "+ACK", 100)).toBe("confirmed");
    expect(run.source.trusted).toBe(true);
    run.confirmation = "no_responders";
    expect(await run.source.confirm("$JS.ACK.EVENTS.sink.1.1.1.1.0", "+ACK", 100)).toBe("no_responders");
    expect(run.source.trusted).toBe(false);
    await run.answer();
    expect([run.source.trusted, run.readings]).toEqual([true, both]);
  });
});

import { describe, expect, test, vi } from "vitest";
import type { Sink } from "../../src/connector/sink.js";
import { CredentialsError, DestinationUnavailableError } from "../../src/error/errors.js";
import { Outage } from "../../src/runner/outage.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { ScriptedSink } from "../fakes/scripted-sink.js";

const away = new DestinationUnavailableError("x");

/** A sink with a health check. */
class CheckedSink extends ScriptedSink {
  checks = 0;
  check: () => Promise<void> = async () => undefined;

  healthcheck(): Promise<void> {
    this.checks += 1;
    return this.check();
  }
}

class Watching {
  readonly outage: Outage;
  readonly wakes: number[] = [];
  sink: Sink = new ScriptedSink(() => undefined);
  waits = true;
  renewed = 0;
  renew: () => Promise<void> = async () => undefined;
  now = 0;

  constructor(healthcheckMs = 1000) {
    this.outage = new Outage({
      policy: { mode: "fixed", baseMs: 100, maxMs: 100, multiplier: 1, jitter: "none" },
      random: () => 0,
      now: () => this.now,
      telemetry: silentTelemetry,
      sink: () => this.sink,
      renewSink: () => {
        this.renewed += 1;
        return this.renew();
      },
      healthcheckMs,
      somethingWaits: () => this.waits,
      changed: () => undefined,
      wakeUpAt: (at) => this.wakes.push(at),
    });
  }

  async tickAt(now: number, writing = false): Promise<void> {
    this.now = now;
    this.outage.tick(now, writing);
    await new Promise(setImmediate);
  }
}

describe("an outage", () => {
  test("FW-RUN-19 stops all writes and says when to look again", () => {
    const watching = new Watching();
    const { outage } = watching;
    expect([outage.isOver, outage.slots(4), outage.error, outage.writesSingly]).toEqual([true, 4, null, false]);
    outage.begin(away);
    expect([outage.isOver, outage.slots(4), outage.error]).toEqual([false, 0, away]);
    expect(watching.wakes).toEqual([100]);
  });

  test("FW-RUN-19 without a health check the probe is a write of one message", async () => {
    const watching = new Watching();
    watching.outage.begin(away);
    await watching.tickAt(99);
    expect(watching.outage.slots(4)).toBe(0);
    await watching.tickAt(100);
    expect([watching.outage.slots(4), watching.outage.writesSingly, watching.outage.isOver]).toEqual([1, true, false]);
    watching.outage.end();
    expect([watching.outage.isOver, watching.outage.error, watching.outage.slots(4)]).toEqual([true, null, 4]);
  });

  test("FW-RUN-19 with a health check that succeeds the next write may be a whole batch; one that fails keeps it open", async () => {
    const watching = new Watching();
    const sink = new CheckedSink(() => undefined);
    watching.sink = sink;
    sink.check = () => Promise.reject(away);
    watching.outage.begin(away);
    await watching.tickAt(100);
    expect([watching.outage.slots(4), sink.checks]).toEqual([0, 1]);
    sink.check = async () => undefined;
    await watching.tickAt(200);
    expect([watching.outage.slots(4), watching.outage.writesSingly, watching.outage.isOver, sink.checks]).toEqual([1, false, false, 2]);
  });

  test("FW-RUN-19 with nothing to write a probe that does not fail is the proof", async () => {
    const watching = new Watching();
    watching.waits = false;
    watching.outage.begin(away);
    await watching.tickAt(100);
    expect(watching.outage.isOver).toBe(true);
  });

  test("FW-ERR-01 refused credentials are renewed before each probe; a renewal that fails keeps it open", async () => {
    const watching = new Watching();
    watching.renew = () => Promise.reject(new CredentialsError("still"));
    watching.outage.begin(new CredentialsError("x"));
    await watching.tickAt(100);
    expect([watching.renewed, watching.outage.slots(4)]).toEqual([1, 0]);
    watching.renew = async () => undefined;
    await watching.tickAt(200);
    expect([watching.renewed, watching.outage.slots(4)]).toEqual([2, 1]);
    const plain = new Watching();
    plain.outage.begin(away);
    await plain.tickAt(100);
    expect(plain.renewed).toBe(0);
  });

  test("FW-RUN-19 a probe that came to nothing, with nothing left to write, is followed by another; one under way is waited for", async () => {
    const watching = new Watching();
    watching.outage.begin(away);
    await watching.tickAt(100);
    watching.waits = false;
    await watching.tickAt(5000, true);
    expect(watching.outage.slots(4)).toBe(1);
    await watching.tickAt(6000, false);
    expect([watching.outage.slots(4), watching.wakes.at(-1)]).toEqual([0, 6100]);
    await watching.tickAt(6100);
    expect(watching.outage.isOver).toBe(true);
  });

  test("FW-RUN-19 while the sink is asked nothing is written: it may be a fresh one that has not started", async () => {
    const watching = new Watching();
    const sink = new CheckedSink(() => undefined);
    let done: () => void = () => undefined;
    sink.check = () =>
      new Promise((resolve) => {
        done = resolve;
      });
    watching.sink = sink;
    watching.outage.begin(away);
    await watching.tickAt(100);
    expect([sink.checks, watching.outage.slots(4)]).toEqual([1, 0]);
    await watching.tickAt(5000);
    expect([sink.checks, watching.outage.slots(4)]).toEqual([1, 0]);
    done();
    await watching.tickAt(5001);
    expect(watching.outage.slots(4)).toBe(1);
  });

  test("FW-ERR-01 a sink is not replaced while writes to it are under way", async () => {
    const watching = new Watching();
    watching.outage.begin(new CredentialsError("x"));
    await watching.tickAt(100, true);
    expect([watching.renewed, watching.outage.slots(4)]).toEqual([0, 0]);
    await watching.tickAt(200, false);
    expect([watching.renewed, watching.outage.slots(4)]).toEqual([1, 1]);
  });

  test("FW-RUN-19 a health check that never answers has failed when its time is over", async () => {
    const watching = new Watching(0);
    const sink = new CheckedSink(() => undefined);
    sink.check = () => new Promise(() => undefined);
    watching.sink = sink;
    watching.outage.begin(away);
    await watching.tickAt(100);
    await vi.waitFor(() => expect(watching.wakes).toHaveLength(2));
    expect([watching.outage.isOver, watching.outage.slots(4), watching.outage.error?.code]).toEqual([false, 0, "destination_unavailable"]);
  });
});

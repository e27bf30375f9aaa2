import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { createObservation } from "../../src/observation/observe.js";
import { StatusFile } from "../../src/observation/status-file.js";
import { MetricStore } from "../../src/telemetry/metric-store.js";
import { configurationWith } from "../config/faults-of.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";
import { statusOf } from "./status-of.js";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sinks-status-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const nowNs = () => 1_700_000_000_123_000_000n;
const never = 3_600_000;

test("FW-OBS-01 the file has health and metrics, is the owner's alone, and nothing is left beside it", async () => {
  const file = join(folder, "deep/er/status.json");
  const store = new MetricStore(nowNs);
  store.count("late_acks_total", 3);
  const status = () => statusOf({ ready: false, healthy: false, reasons: ["window_full: x"] });
  const source = { namespace: "mission", store, status };
  const written = new StatusFile({ file, source, telemetry: new RecordingTelemetry(), nowNs, intervalMs: never });
  await written[Symbol.asyncDispose]();
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
    schema: "nats_sinks.metrics.snapshot.v1",
    namespace: "mission",
    generated_at_epoch_seconds: 1_700_000_000.123,
    health: { state: "running", ready: false, healthy: false, reasons: ["window_full: x"] },
    counters: { late_acks_total: 3, messages_written_total: 8 },
    gauges: { consumer_lag: 5, ready: 0 },
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(folder, "deep/er"))).toEqual(["status.json"]);
});

test("FW-OBS-06 a file that cannot be written is told once, counted each time, and written once it can be", async () => {
  const telemetry = new RecordingTelemetry();
  const blocker = join(folder, "blocker");
  await writeFile(blocker, "");
  const file = join(blocker, "status.json");
  const source = { namespace: "n", store: null, status: () => statusOf() };
  const written = new StatusFile({ file, source, telemetry, nowNs, intervalMs: never });
  await written.write();
  await written.write();
  expect(telemetry.events.map(({ event }) => event)).toEqual(["the status file cannot be written; tried again"]);
  expect(telemetry.counted("observation_errors_total")).toBe(2);
  await rm(blocker);
  await written[Symbol.asyncDispose]();
  expect(JSON.parse(await readFile(file, "utf8"))).not.toHaveProperty("counters");
});

test.runIf(process.platform === "linux")("FW-OBS-06 a place where no folder can be made ends as a failure, not never", async () => {
  const telemetry = new RecordingTelemetry();
  const source = { namespace: "n", store: null, status: () => statusOf() };
  const written = new StatusFile({ file: "/proc/absent/deep/status.json", source, telemetry, nowNs, intervalMs: never });
  await written[Symbol.asyncDispose]();
  expect(telemetry.counted("observation_errors_total")).toBe(2);
});

test("FW-OBS-06 what is no ordinary file is not replaced by one", async () => {
  const file = join(folder, "status.json");
  await symlink(join(folder, "elsewhere"), file);
  const telemetry = new RecordingTelemetry();
  const source = { namespace: "n", store: null, status: () => statusOf() };
  const written = new StatusFile({ file, source, telemetry, nowNs, intervalMs: never });
  await written[Symbol.asyncDispose]();
  expect((await lstat(file)).isSymbolicLink()).toBe(true);
  expect(telemetry.counted("observation_errors_total")).toBe(2);
});

test("FW-OBS-01 an observation offers what is configured, from the program's folder, and keeps what the runner reports", async () => {
  const kept = new RecordingTelemetry();
  const configuration = validateConfiguration(
    configurationWith({ metrics: { enabled: true, listen: "127.0.0.1:0", snapshot_file: "status.json" } }),
  );
  const observation = createObservation({ configuration, telemetry: kept, nowNs, directory: folder });
  observation.telemetry.count("late_acks_total", 2);
  observation.telemetry.observe?.("sink_batch_write_seconds", 1);
  observation.telemetry.log("info", "ready");
  {
    await using offered = observation.offer(() => statusOf());
    while (offered.port === null) await new Promise((resolve) => setImmediate(resolve));
    const text = await (await fetch(`http://127.0.0.1:${offered.port}/metrics`)).text();
    expect(text).toContain("\nnats_sinks_late_acks_total 2\n");
    expect(text).toContain("\nnats_sinks_sink_batch_write_seconds_count 1\n");
  }
  expect(JSON.parse(await readFile(join(folder, "status.json"), "utf8"))).toMatchObject({ counters: { late_acks_total: 2 } });
  expect([kept.counted("late_acks_total"), kept.observed("sink_batch_write_seconds")]).toEqual([2, [1]]);
  expect(kept.events.map(({ event }) => event)).toContain("ready");
});

test("FW-OBS-01 with nothing configured nothing is offered and nothing is kept", async () => {
  const configuration = validateConfiguration(configurationWith());
  const observation = createObservation({ configuration, telemetry: new RecordingTelemetry(), nowNs, directory: folder });
  await using offered = observation.offer(() => statusOf());
  expect([offered.port, await readdir(folder)]).toEqual([null, []]);
});

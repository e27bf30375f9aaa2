import { expect, test } from "vitest";
import { TemporarySinkError } from "../../src/error/errors.js";
import { measureWrite } from "../../src/runner/measure-write.js";
import type { WriteResult } from "../../src/runner/writer.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

const error = new TemporarySinkError("busy");

test.each<[WriteResult, number]>([
  [{ kind: "stored" }, 1],
  [{ kind: "outcomes", outcomes: [null, null] }, 1],
  [{ kind: "outcomes", outcomes: [null, error] }, 0],
  [{ kind: "indivisible", error }, 0],
  [{ kind: "fault", error }, 0],
])("FW-OBS-02 a write is measured, and counted as a stored batch only when all of it is (%#)", async (result, batches) => {
  const telemetry = new RecordingTelemetry();
  let now = 1000;
  const write = Promise.resolve(result).then((value) => {
    now += 250;
    return value;
  });
  expect(await measureWrite(write, telemetry, () => now)).toBe(result);
  expect(telemetry.observed("sink_batch_write_seconds")).toEqual([0.25]);
  expect(telemetry.counted("sink_batches_written_total")).toBe(batches);
});

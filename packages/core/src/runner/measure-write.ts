import type { Telemetry } from "../telemetry/port.js";
import type { WriteResult } from "./writer.js";

/** Measures a write, its parts together when it was split, and counts it when all of it was stored. */
export async function measureWrite(write: Promise<WriteResult>, telemetry: Telemetry, now: () => number): Promise<WriteResult> {
  const began = now();
  const result = await write;
  telemetry.observe?.("sink_batch_write_seconds", (now() - began) / 1000);
  if (isWhole(result)) telemetry.count("sink_batches_written_total");
  return result;
}

function isWhole(result: WriteResult): boolean {
  return result.kind === "stored" || (result.kind === "outcomes" && result.outcomes.every((outcome) => outcome === null));
}

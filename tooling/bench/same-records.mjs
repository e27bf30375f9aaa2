import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Keys whose values belong to one run: names of consumers, times and what is computed from them. */
const ofOneRun = new Set([
  "consumer",
  "reply",
  "received_at",
  "received_at_epoch_ns",
  "stored_at",
  "stored_at_epoch_ns",
  "event_age_at_receive_seconds",
  "event_age_at_store_seconds",
  "source_clock_skew_seconds",
]);

/** The record of the stream's first message in a folder of NDJSON files, without what differs from run to run; null when there is none. */
export async function firstRecord(folder) {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".ndjson")) continue;
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      if (line.includes('"stream_sequence":1,')) return comparable(line);
    }
  }
  return null;
}

/** A record as text in which equal content is equal: keys sorted, values of one run left out. */
export function comparable(line) {
  return JSON.stringify(JSON.parse(line), (key, value) => {
    if (ofOneRun.has(key)) return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1)));
  });
}

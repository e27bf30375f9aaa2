import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Reads every record of the segment files in a folder. */
export async function readSegments(folder) {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ndjson")).sort();
  const records = [];
  for (const file of files) {
    const lines = createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) if (line !== "") records.push(JSON.parse(line));
  }
  return { records, files: files.length };
}

/** Reads every entry of the dead-letter stream. */
export async function readDeadLetters(manager, stream) {
  const { state } = await manager.streams.info(stream);
  const letters = [];
  for (let sequence = state.first_seq; state.messages > 0 && sequence <= state.last_seq; sequence += 1) {
    const message = await manager.streams.getMessage(stream, { seq: sequence });
    if (message !== null) letters.push(JSON.parse(new TextDecoder().decode(message.data)));
  }
  return letters;
}

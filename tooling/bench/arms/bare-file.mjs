import { open } from "node:fs/promises";
import { settings } from "./arm.mjs";
import { bareLoop } from "./bare-loop.mjs";
import { bareRecord, presentTime } from "./bare-record.mjs";

const file = await open(`${settings.folder}/bare.ndjson`, "w");
/** Writes follow one another, as in any file with one writer. */
let previous = Promise.resolve();

await bareLoop((batch) => {
  previous = previous.then(async () => {
    const now = presentTime();
    const lines = batch.map((message) => bareRecord(message, settings, now));
    await file.appendFile(lines.join(""));
    await file.datasync();
  });
  return previous;
});
await file.close();

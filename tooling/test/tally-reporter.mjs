import { writeFileSync } from "node:fs";
import { tally } from "./tally.mjs";

/** Vitest reporter that leaves the tally of the run in the file named by `SINKS_TALLY_FILE`. */
export default class TallyReporter {
  onTestRunEnd(modules, unhandledErrors) {
    writeFileSync(process.env.SINKS_TALLY_FILE, JSON.stringify(tally(modules, unhandledErrors)));
  }
}

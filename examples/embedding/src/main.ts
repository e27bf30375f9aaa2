import { isSinksError, type Telemetry } from "@sinks/core";
import { runReadings } from "./pipeline.js";

/** Logs go where this program wants them; here to stderr, one JSON document a line. */
const telemetry: Telemetry = {
  enabled: (level) => level !== "debug",
  log(level, event, fields = {}) {
    if (!telemetry.enabled(level)) return;
    const text = JSON.stringify({ level, event, ...fields }, (_key, value) => (typeof value === "bigint" ? String(value) : value));
    process.stderr.write(`${text}\n`);
  },
  count: () => undefined,
};

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

try {
  const summary = await runReadings({
    url: process.env["NATS_URL"] ?? "nats://localhost:4222",
    stream: "READINGS",
    consumer: "latest",
    subject: "readings.>",
    deadLetterSubject: "dead.readings",
    file: process.argv[2] ?? "latest.json",
    once: process.argv.includes("--once"),
    telemetry,
    signal: stop.signal,
  });
  process.stdout.write(`${summary.stored} stored, ${summary.deadLettered} dead-lettered\n`);
  process.exitCode = summary.complete ? 0 : 1;
} catch (error) {
  if (!isSinksError(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

// A process to be killed: writes batches of messages for ever and tells on stdout what it was told is durable.
import { writeSync } from "node:fs";
import { createEnvelope, silentTelemetry } from "@sinks/core";
import { file } from "../src/connector.js";

/** A line on stdout. */
export type CrashReport = "started" | `durable ${number} ${number}`;

const report = (line: CrashReport) => writeSync(1, `${line}\n`);
const [first = "1", size = "50", text = "{}"] = process.argv.slice(2);
const signal = new AbortController().signal;
const services = { telemetry: silentTelemetry, nowNs: () => process.hrtime.bigint() + 1_800_000_000_000_000_000n, workingDirectory: "/" };
const sink = file.create(file.options.parse(JSON.parse(text)), services);
await sink.start({ name: "file", pipeline: "EVENTS/sink/file", telemetry: silentTelemetry, signal });
report("started");
for (let from = Number(first); ; from += Number(size)) {
  const messages = Array.from({ length: Number(size) }, (_, index) =>
    createEnvelope({
      subject: `events.${(from + index) % 3}`,
      data: Buffer.from(JSON.stringify({ n: from + index, pad: "x".repeat((from * 37 + index) % 900) })),
      stream: "EVENTS",
      consumer: "sink",
      streamCreatedAt: "2026-05-18T12:00:00.123456789Z",
      streamSequence: BigInt(from + index),
      receivedAtNs: 1n,
    }),
  );
  const outcomes = await sink.writeBatch(messages, { signal, ordered: false, lanes: null, onPoison: "dead_letter_and_continue" });
  const stored = outcomes === undefined || outcomes.every((outcome) => outcome === null);
  if (stored) report(`durable ${from} ${from + Number(size) - 1}`);
}

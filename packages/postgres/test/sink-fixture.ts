import { createEnvelope, type Envelope, type EnvelopeFields, silentTelemetry, type Telemetry, type WriteContext } from "@sinks/core";
import pg from "pg";
import type { z } from "zod";
import { postgresOptions } from "../src/options.js";
import { createPostgresSink, type PostgresSink, type PostgresSinkExtras } from "../src/sink.js";

const createdAt = "2026-05-18T12:00:00.123456789Z";
/** Creation time of the stream of `message`. */
export const createdNs = 1_779_105_600_123_456_789n;

/** A message of the stream EVENTS; `body` may be text, bytes or a value that becomes JSON. */
export function message(sequence: number, body: unknown = { n: sequence }, fields: Partial<EnvelopeFields> = {}): Envelope {
  const data = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return createEnvelope({
    subject: "events.a",
    data,
    stream: "EVENTS",
    consumer: "sink",
    streamCreatedAt: createdAt,
    streamSequence: BigInt(sequence),
    consumerSequence: BigInt(sequence),
    timestampNs: 1_779_105_700_000_000_999n,
    receivedAtNs: 1_779_105_700_000_000_002n,
    deliveryCount: 1,
    pending: 0,
    ...fields,
  });
}

/** A write context; by default without order. */
export function writeContext(fields: Partial<WriteContext> = {}): WriteContext {
  return { signal: AbortSignal.timeout(30_000), ordered: false, lanes: null, onPoison: "dead_letter_and_continue", ...fields };
}

/** A sink that was made and not started. */
export function makeSink(given: z.input<typeof postgresOptions>, extras: PostgresSinkExtras = {}): PostgresSink {
  const services = { telemetry: silentTelemetry, nowNs: () => 1_779_105_800_000_000_000n, workingDirectory: "." };
  return createPostgresSink(postgresOptions.parse(given), services, extras);
}

/** A sink that runs until the end of the scope. */
export async function startSink(
  given: z.input<typeof postgresOptions>,
  extras: PostgresSinkExtras = {},
  telemetry: Telemetry = silentTelemetry,
): Promise<PostgresSink & AsyncDisposable> {
  const sink = makeSink(given, extras);
  await sink.start({ name: "postgres", pipeline: "EVENTS/sink/postgres", telemetry, signal: AbortSignal.timeout(20_000) });
  return Object.assign(sink, { [Symbol.asyncDispose]: () => sink.stop() });
}

/** Rows of a query as arrays of texts, on a connection of its own. */
export async function rows(url: string, text: string): Promise<readonly (readonly (string | null)[])[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array", types: { getTypeParser: () => (value: string) => value } })).rows as (
      | string
      | null
    )[][];
  } finally {
    await client.end();
  }
}

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { createEnvelope, type Envelope, type EnvelopeFields, type LogFields, type Telemetry, type WriteContext } from "@sinks/core";
import { type FileSystem, nodeFileSystem } from "../src/client.js";
import { type FileOptions, fileOptions } from "../src/options.js";
import { createFileSink, type FileSink, type FileSinkWorld, machine } from "../src/sink.js";

const createdAt = "2026-05-18T12:00:00.123456789Z";
export const createdNs = "1779105600123456789";

/** A message of the stream EVENTS; `body` may be text, bytes or a value that becomes JSON. */
export function message(
  sequence: number | bigint,
  body: unknown = { n: Number(sequence) },
  fields: Partial<EnvelopeFields> = {},
): Envelope {
  const data = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return createEnvelope({
    subject: "events.a",
    data,
    stream: "EVENTS",
    consumer: "sink",
    streamCreatedAt: createdAt,
    streamSequence: BigInt(sequence),
    consumerSequence: BigInt(sequence),
    timestampNs: 1_779_105_700_000_000_001n,
    receivedAtNs: 1_779_105_700_000_000_002n,
    deliveryCount: 1,
    pending: 0,
    ...fields,
  });
}

/** A file system that keeps what `sync` flushed, relative to `root`; `before` is told first and may throw instead. */
export function recordingFlushes(
  root: string,
  before: (place: string) => void = () => undefined,
): { readonly files: FileSystem; readonly flushed: string[] } {
  const flushed: string[] = [];
  const paths = new Map<number, string>();
  const files = filesWith({
    open: async (file, flags, mode) => {
      const descriptor = await nodeFileSystem.open(file, flags, mode);
      paths.set(descriptor, path.relative(root, file));
      return descriptor;
    },
    sync: async (descriptor) => {
      const place = paths.get(descriptor) as string;
      before(place);
      flushed.push(place);
      await nodeFileSystem.sync(descriptor);
    },
  });
  return { files, flushed };
}

/** A write context; by default without order. */
export function writeContext(fields: Partial<WriteContext> = {}): WriteContext {
  return { signal: new AbortController().signal, ordered: false, lanes: null, onPoison: "dead_letter_and_continue", ...fields };
}

/** Options with everything unset at its default. */
export function options(fields: Partial<FileOptions> & { directory: string }): FileOptions {
  return fileOptions.parse(fields);
}

/** A folder that is removed at the end of the scope. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "sinks-file-"));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

interface LoggedEvent {
  readonly event: string;
  readonly fields: LogFields;
}

/** Keeps the events of a sink. */
export function recordingTelemetry(): Telemetry & { readonly events: LoggedEvent[] } {
  const events: LoggedEvent[] = [];
  return { events, enabled: () => true, log: (_level, event, fields = {}) => events.push({ event, fields }), count: () => undefined };
}

/** The real file system with some calls replaced. */
export function filesWith(changes: Partial<FileSystem>): FileSystem {
  return { ...nodeFileSystem, ...changes };
}

interface Opened extends AsyncDisposable {
  readonly sink: FileSink;
  readonly telemetry: ReturnType<typeof recordingTelemetry>;
}

/** A started sink that is stopped at the end of the scope. */
export async function openSink(fields: Partial<FileOptions> & { directory: string }, world: Partial<FileSinkWorld> = {}): Promise<Opened> {
  const telemetry = recordingTelemetry();
  let now = 1_800_000_000_000_000_000n;
  const nowNs = () => {
    now += 1_000n;
    return now;
  };
  const sink = createFileSink(options(fields), { telemetry, nowNs, workingDirectory: "/nowhere" }, { ...machine, ...world });
  await sink.start({ name: "file", pipeline: "EVENTS/sink/file", telemetry, signal: new AbortController().signal });
  return { sink, telemetry, [Symbol.asyncDispose]: () => sink.stop() };
}

/** Paths of all files below a folder, relative to it; with `all` also those whose name begins with a dot. */
export async function listFiles(folder: string, all = false): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && (all || !entry.name.startsWith(".")))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** A stored record, parsed. */
export async function readRecord(file: string): Promise<Record<string, unknown>> {
  const bytes = await readFile(file);
  return JSON.parse((file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")) as Record<string, unknown>;
}

/** All records of all segments in a folder, in the order of names; throws for a line that is not JSON. */
export async function readSegments(folder: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for (const name of await listFiles(folder)) {
    const bytes = await readFile(path.join(folder, name));
    const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
    if (!text.endsWith("\n")) throw new Error(`${name} ends inside a line`);
    for (const line of text.slice(0, -1).split("\n")) records.push(JSON.parse(line) as Record<string, unknown>);
  }
  return records;
}

/** An errno error as the file system throws it. */
export function errno(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: made by a test`), { code, errno: -1, syscall: "test" });
}

/** The codes of outcomes, `stored` for null. */
export function codes(outcomes: readonly ({ readonly code: string } | null)[] | void): string[] {
  return (outcomes ?? []).map((outcome) => outcome?.code ?? "stored");
}

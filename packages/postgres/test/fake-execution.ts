import { isErrorKind, type Telemetry, type WriteContext, type WriteOutcome } from "@sinks/core";
import { executeBatch } from "../src/execute/execute-batch.js";
import type { ExecutionPorts, ExecutionSettings } from "../src/execute/execution-settings.js";
import type { MessageWrites } from "../src/execute/segment.js";
import type { BuiltWrite, Form } from "../src/render/built-write.js";
import { type FakeRow, type FakeServer, fakeWrite } from "./fake-server.js";

/** Settings of an execution unless a test says otherwise. */
export const plainSettings: ExecutionSettings = {
  transaction: "delivery",
  afterFailure: "continue",
  maximumChunkBytes: 4_194_304,
  limits: { statementMs: 30_000, lockMs: 10_000 },
  limitsPerTransaction: false,
  ledger: null,
  logDriverMessages: false,
};

/** What a test execution is given besides its messages. */
interface FakeExecution {
  readonly settings?: Partial<ExecutionSettings>;
  readonly context?: Partial<WriteContext>;
  readonly wait?: ExecutionPorts["wait"];
  readonly tablesChanged?: ExecutionPorts["tablesChanged"];
}

/** Counts and events of an execution. */
interface Seen {
  readonly counts: Map<string, number>;
  readonly events: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
}

/** A telemetry port and what it was told. */
export function recordingTelemetry(): { readonly seen: Seen; readonly telemetry: Telemetry } {
  const seen: Seen = { counts: new Map(), events: [] };
  const telemetry: Telemetry = {
    enabled: () => true,
    log: (_level, event, fields = {}) => void seen.events.push({ event, fields }),
    count: (name, by = 1) => void seen.counts.set(name, (seen.counts.get(name) ?? 0) + by),
  };
  return { seen, telemetry };
}

/** Executes a batch on the fake server; time passes at once. */
export async function execute(server: FakeServer, messages: readonly MessageWrites[], given: FakeExecution = {}) {
  const { seen, telemetry } = recordingTelemetry();
  const context: WriteContext = {
    signal: new AbortController().signal,
    ordered: false,
    lanes: null,
    onPoison: "dead_letter_and_continue",
    ...given.context,
  };
  const ports = {
    telemetry,
    wait: given.wait ?? (async () => undefined),
    random: () => 0.5,
    tablesChanged: given.tablesChanged ?? (async () => false),
  };
  const outcomes = await executeBatch(server, messages, context, { ...plainSettings, ...given.settings }, ports);
  return { outcomes, words: outcomes.map(wordOf), seen };
}

/** The outcome in a word of the contract (WO-GEN-12). */
export function wordOf(outcome: WriteOutcome): string {
  if (outcome === null) return "applied";
  if (isErrorKind(outcome, "PermanentSinkError")) return "permanent";
  if (isErrorKind(outcome, "UnknownOutcomeError")) return "unknown";
  if (isErrorKind(outcome, "NotAttemptedError")) return "not attempted";
  if (isErrorKind(outcome, "DestinationUnavailableError")) return "unavailable";
  if (isErrorKind(outcome, "CredentialsError")) return "credentials";
  return "temporary";
}

/** A batch with the writes of its messages. */
export const batchOf = (...writes: readonly (readonly BuiltWrite[])[]): MessageWrites[] =>
  writes.map((each, index) => ({ index, writes: each, refused: null, key: `key-${String(index).padStart(5, "0")}` }));
/** One message per id, of one row each. */
export const rows = (form: Form, ...ids: readonly string[]) => ids.map((id) => [fakeWrite(form, id)]);
/** A judge that refuses statements with one of the bad rows. */
export const failingOn =
  (code: string, ...bad: readonly string[]) =>
  (given: readonly FakeRow[]) =>
    given.some(({ id }) => bad.includes(id)) ? code : null;

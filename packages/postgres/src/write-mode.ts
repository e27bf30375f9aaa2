import type { Envelope, SinkError, Telemetry } from "@sinks/core";
import type { Sessions } from "./connection/session.js";
import type { RetrySafety } from "./payload/retry-safety.js";
import type { MessageEntries } from "./plan/plan.js";
import type { BuiltWrite } from "./render/built-write.js";
import type { BuiltTypes } from "./table/catalog.js";
import type { TableFault } from "./table/table-fault.js";

/** What one message becomes: its writes in order, none for a message that writes nothing, or why it can never be written. */
export type MessagePlan = readonly BuiltWrite[] | SinkError;

/** What messages become, one for one in order, and the types that they were built with. */
export interface BatchPlan {
  readonly messages: readonly MessagePlan[];
  readonly types: BuiltTypes;
}

/** How a preview is asked for. */
export interface PreviewRequest {
  readonly showValues: boolean;
  /** Reads the types of these tables, quoted, where it can; says why it could not, else null. */
  readonly readTypes: (tables: ReadonlySet<string>) => Promise<string | null>;
}

/** What messages would become, as far as it can be known before anything is sent. */
export interface Preview {
  readonly entries: readonly MessageEntries[];
  readonly safety: RetrySafety;
  readonly notes: readonly string[];
}

/** One way from messages to writes: whole messages into a table, or payloads made by a write map or a handler. */
export interface WriteMode {
  /** True when the tables are the sink's own, which must fit before it starts (WO-ERR-05). */
  readonly ownsTables: boolean;
  /** Checks and prepares the destination; throws `ConfigurationError` for what only the operator can mend. */
  start(sessions: Sessions, signal: AbortSignal, telemetry: Telemetry): Promise<void>;
  /** Makes the tables that are missing, as far as this mode has tables of its own. */
  createTables(sessions: Sessions, signal: AbortSignal): Promise<void>;
  /** The writes of each message, in order. A failure that is no message's own is thrown. */
  plan(messages: readonly Envelope[], sessions: Sessions, signal: AbortSignal): Promise<BatchPlan>;
  /** The same before a start, write by write, with what is wrong with each (WO-OB-02). */
  preview(messages: readonly Envelope[], request: PreviewRequest): Promise<Preview>;
  retrySafety(messages: readonly Envelope[]): "safe" | "unsafe";
  /** What is wrong with the destination, found without a change; names the checks by what they look at. */
  faults(sessions: Sessions, signal: AbortSignal): Promise<readonly TableFault[]>;
  /** The statements that make what this mode needs and the sink may make. */
  ddl(): readonly string[];
}

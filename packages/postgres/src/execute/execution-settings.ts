import type { Telemetry } from "@sinks/core";
import type { Ledger } from "../ledger/ledger.js";
import type { Query } from "../render/built-write.js";
import type { Limits } from "./control.js";
import type { Reply } from "./conversation.js";

/** What the options say about the execution of batches. */
export interface ExecutionSettings {
  readonly transaction: "delivery" | "run";
  readonly afterFailure: "continue" | "stop";
  readonly maximumChunkBytes: number;
  readonly limits: Limits;
  /** True where the limits are not on the connection and go with each transaction (WO-PG-34). */
  readonly limitsPerTransaction: boolean;
  readonly ledger: Ledger | null;
  /** True when the server's own words may stand in the log (WO-OB-03). */
  readonly logDriverMessages: boolean;
}

/** What the execution of batches touches besides sessions. */
export interface ExecutionPorts {
  readonly telemetry: Telemetry;
  /** Resolves after so many milliseconds, or early when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Finds out by queries whether a quoted table, or with null any table of the batch, has changed since the batch was built (WO-VAL-11). */
  readonly tablesChanged: (table: string | null, ask: (queries: readonly Query[]) => Promise<Reply>) => Promise<boolean>;
  /** Evenly from 0 up to, not including, 1. */
  readonly random: () => number;
}

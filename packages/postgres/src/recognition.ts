import type { Envelope, InventoryReport, InventoryRequest } from "@sinks/core";
import type { Sessions } from "./connection/session.js";

/** What a look at the destination needs. */
export interface Inquiry {
  readonly sessions: Sessions;
  /** Name of the pipeline in the ledger; null without one. */
  readonly pipeline: string | null;
  readonly signal: AbortSignal;
}

/** How a destination knows messages again that it holds. */
export interface Recognition {
  /** Which of the messages are there, one flag each in order (WO-ENV-05). */
  lookup(messages: readonly Envelope[], inquiry: Inquiry): Promise<readonly boolean[]>;
  /** Reports every message that is there, in bounded memory (FW-CLI-07). */
  inventory(request: InventoryRequest, report: InventoryReport, inquiry: Inquiry): Promise<void>;
}

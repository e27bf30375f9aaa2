import type { RunSummary } from "@sinks/core/runtime";
import { countText, secondsText } from "./number-text.js";
import { pairs } from "./table.js";

/** The summary of a run in its stable JSON shape (FW-CLI-08). */
export interface SummaryDocument {
  readonly received: number;
  readonly stored: number;
  readonly dead_lettered: number;
  /** Only when messages were dropped, which `dead_letter.when_disabled: discard` alone allows. */
  readonly discarded?: number;
  readonly retried: number;
  readonly held: number;
  readonly seconds: number;
}

/** The document of a summary. */
export function summaryDocument(summary: RunSummary): SummaryDocument {
  const { received, stored, deadLettered, discarded, retried, held, seconds } = summary;
  const dropped = discarded > 0 ? { discarded } : {};
  return { received, stored, dead_lettered: deadLettered, ...dropped, retried, held, seconds: Math.round(seconds * 1000) / 1000 };
}

/** The summary for people. */
export function summaryText(summary: RunSummary): string {
  const rate = summary.seconds > 0 ? ` (${countText((summary.stored + summary.deadLettered) / summary.seconds)}/s)` : "";
  return pairs([
    ["received", countText(summary.received)],
    ["stored", countText(summary.stored)],
    ["dead-lettered", countText(summary.deadLettered)],
    ...(summary.discarded > 0 ? ([["discarded", countText(summary.discarded)]] as const) : []),
    ["retried", countText(summary.retried)],
    ["held", countText(summary.held)],
    ["time", `${secondsText(summary.seconds)}${rate}`],
  ]);
}

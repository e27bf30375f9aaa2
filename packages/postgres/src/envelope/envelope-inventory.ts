import type { InventoryReport, InventoryRequest } from "@sinks/core";
import type { Sessions } from "../connection/session.js";
import { toPostgresError } from "../errors.js";

/** Rows that one answer brings. */
const pageRows = 20_000;

const page = (table: string) =>
  `SELECT stream_sequence FROM ${table} WHERE stream = $1 AND stream_created_ns = $2::bigint ` +
  `AND stream_sequence BETWEEN $3::bigint AND $4::bigint ORDER BY stream_sequence LIMIT ${pageRows}`;

/** Reports the messages in a table of whole messages, page by page along its key; `table` is quoted. */
export async function takeEnvelopeInventory(
  table: string,
  sessions: Sessions,
  { stream, streamCreatedNs, from, to }: InventoryRequest,
  report: InventoryReport,
  signal: AbortSignal,
): Promise<void> {
  const lives = new Set(streamCreatedNs.map((life) => (life ?? 0n).toString()));
  for (const life of lives) {
    for (let next = from; next <= to; ) {
      const values = [stream, life, String(next), String(to)];
      const { done, failure } = await sessions.use(signal, (session) => session.pipeline([{ text: page(table), values, prepare: true }]));
      if (failure !== null) throw toPostgresError(failure, table, false);
      const sequences = (done[0]?.rows ?? []).map(([sequence]) => Number(sequence));
      for (const sequence of sequences) report.stored(sequence);
      if (sequences.length < pageRows) break;
      next = (sequences.at(-1) as number) + 1;
    }
  }
}

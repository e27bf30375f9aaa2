import { query } from "../connection/session-query.js";
import type { Recognition } from "../recognition.js";
import { readTableFacts } from "../table/table-facts.js";
import { textArray } from "../value/text-array.js";

/** Keys that one query asks for. */
const lookupKeys = 1000;
/** Sequences that one query of an inventory covers. */
const inventorySequences = 20_000;

/** Knows messages by their records in the ledger (FW-LED-02); `table` is quoted. */
export function ledgerRecognition(table: string): Recognition {
  const known = `SELECT k.position FROM unnest($2::text[]) WITH ORDINALITY AS k(key, position) WHERE EXISTS (SELECT FROM ${table} l WHERE l.pipeline = $1 AND l.key = k.key)`;
  const listed = `SELECT s FROM generate_series($3::bigint, $4::bigint) AS s WHERE EXISTS (SELECT FROM ${table} l WHERE l.pipeline = $1 AND l.key = $2 || s)`;
  return {
    async lookup(messages, { sessions, pipeline, signal }) {
      const found = messages.map(() => false);
      for (let from = 0; from < messages.length; from += lookupKeys) {
        const keys = messages.slice(from, from + lookupKeys).map((message) => message.idempotencyKey());
        const { rows } = await sessions.use(signal, (session) => query(session, table, known, [pipeline, textArray(keys)]));
        for (const [position] of rows) found[from + Number(position) - 1] = true;
      }
      return found;
    },
    async inventory({ keyPrefixes, from, to }, report, { sessions, pipeline, signal }) {
      const facts = await sessions.use(signal, (session) => readTableFacts(session, table));
      if (facts === null) return report.absent(`table ${table} is not there`);
      for (const prefix of keyPrefixes) {
        for (let first = from; first <= to; first += inventorySequences) {
          const last = Math.min(to, first + inventorySequences - 1);
          const values = [pipeline, prefix, String(first), String(last)];
          const { rows } = await sessions.use(signal, (session) => query(session, table, listed, values));
          for (const [sequence] of rows) report.stored(Number(sequence));
        }
      }
    },
  };
}

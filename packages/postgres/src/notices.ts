import type { PostgresOptions } from "./options.js";

/**
 * What valid options should be told: an insert whose message may come again would meet its own row, or add a second one
 * (WO-GEN-23).
 */
export function postgresNotices({ write = [], ledger }: Pick<PostgresOptions, "write" | "ledger">): readonly string[] {
  if (ledger.enabled) return [];
  return write.flatMap((rule, index) =>
    (rule["op"] ?? "insert") === "insert"
      ? [
          `write[${index}]: an insert meets its own row when its message comes again; use upsert with update_columns: [], or set ledger.enabled`,
        ]
      : [],
  );
}

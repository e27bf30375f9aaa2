import type { WriteBudget } from "@sinks/core";
import { type PostgresOptions, unsetOptions } from "./options.js";

/** Timeouts that end a write; each should end it before the pipeline does, so that its outcome is known (WO-PG-34). */
const timeouts = ["connect_timeout_ms", "acquire_timeout_ms", "statement_timeout_ms", "lock_timeout_ms"] as const;

/** What decides the notices. */
export type NoticeOptions = Pick<
  PostgresOptions,
  "write" | "ledger" | "prepared_statements" | "max_prepared" | "table" | "table_by" | (typeof timeouts)[number]
>;

/** What valid options should be told (WO-GEN-23, WO-OPT-04). */
export function postgresNotices(options: NoticeOptions, budget: WriteBudget): readonly string[] {
  return [...insertNotices(options), ...timeoutNotices(options, budget), ...idleNotices(options)];
}

/** An insert whose message may come again would meet its own row, or add a second one. */
function insertNotices({ write = [], ledger }: NoticeOptions): readonly string[] {
  if (ledger.enabled) return [];
  return write.flatMap((rule, index) =>
    (rule["op"] ?? "insert") === "insert"
      ? [
          `write[${index}]: an insert meets its own row when its message comes again; use upsert with update_columns: [], or set ledger.enabled`,
        ]
      : [],
  );
}

function timeoutNotices(options: NoticeOptions, { writeMs }: WriteBudget): readonly string[] {
  return timeouts
    .filter((name) => options[name] > writeMs)
    .map((name) => `${name}: is longer than delivery.in_progress.max_lease_ms (${writeMs}), so a write is given up before it ends`);
}

/** Options that are set and that nothing looks at. */
function idleNotices({ prepared_statements: keepsPlans, max_prepared: plans, table, table_by: by }: NoticeOptions): readonly string[] {
  return [
    ...(!keepsPlans && plans !== unsetOptions.max_prepared ? ["max_prepared: no plans are kept with prepared_statements: false"] : []),
    ...(by !== null && table !== unsetOptions.table ? ["table: table_by stands in its place"] : []),
  ];
}

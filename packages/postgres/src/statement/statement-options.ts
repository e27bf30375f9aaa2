import { z } from "zod";
import { compileStatement } from "./statement-compiler.js";
import { describeFault } from "./statement-fault.js";

const statementName = z.string().regex(/^[a-z_][a-z0-9_]*$/, { error: "lower-case letters, digits and _, no digit first" });

const statementText = z.string().superRefine((sql, context) => {
  const result = compileStatement(sql);
  if (result.compiled === null && result.fault !== null) context.addIssue({ code: "custom", message: describeFault(result.fault) });
});

const describedStatement = z
  .strictObject({
    sql: z.string().describe("The SQL, one command, with `:name` where a value is bound."),
    params: z
      .record(z.string(), z.string())
      .nullable()
      .default(null)
      .describe("Type of each placeholder, such as `int8`, `text?` or `uuid[]`; all of them, or none."),
    idempotent: z.boolean().default(false).describe("Running it twice with the same values has the effect of once."),
    on_zero_rows: z.enum(["ignore", "warn", "fail"]).nullable().default(null).describe("What no row means; the sink's own by default."),
  })
  .superRefine(({ sql, params }, context) => {
    const result = compileStatement(sql, params);
    if (result.compiled !== null) return;
    if (result.fault !== null) context.addIssue({ code: "custom", path: ["sql"], message: describeFault(result.fault) });
    for (const { name, reason } of result.params) context.addIssue({ code: "custom", path: ["params", name], message: reason });
  });

/** The named statements of a configuration, each compiled while it is read (WO-PGS-01, WO-GEN-16). */
export const statementsOption = z.record(statementName, z.union([statementText, describedStatement]));

/** The named statements as they are configured. */
export type StatementsOption = z.output<typeof statementsOption>;

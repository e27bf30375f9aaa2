import { isSinkError } from "@sinks/core";
import { postgresOptions } from "../src/options.js";
import { checkPayload } from "../src/payload/check-payload.js";
import type { PostgresPayload } from "../src/payload/payload.js";
import { type BuildSettings, createPayloadBuilder, type PayloadBuilder } from "../src/render/build.js";
import type { BuiltWrite, Query } from "../src/render/built-write.js";
import { compileStatements } from "../src/statement/named-statement.js";
import type { ColumnType, TableTypes } from "../src/value/column-type.js";

/** Settings of a sink without statements, changed as given. */
export function buildSettings(changes: Partial<BuildSettings> = {}): BuildSettings {
  return { allowQuotedIdentifiers: false, undefinedData: "reject", nul: "reject", onZeroRows: "ignore", statements: new Map(), ...changes };
}

/** Compiled statements of a configuration. */
export function statementsOf(statements: unknown): BuildSettings["statements"] {
  return compileStatements(postgresOptions.parse({ url: "postgres://u@h/d", statements }).statements);
}

/** Column types by name, written as `int8`, `jsonb` or `text[]`. */
export function tableTypes(columns: Readonly<Record<string, string>>): TableTypes {
  return new Map(Object.entries(columns).map(([name, type]) => [name, columnType(type)]));
}

function columnType(type: string): ColumnType {
  if (type.endsWith("[]")) return { kind: "array", base: type.slice(0, -2) };
  return { kind: type === "json" || type === "jsonb" ? type : "scalar", base: type };
}

/** The writes of payloads, or the error that the first bad one is answered with. */
export function buildAll(
  payloads: readonly unknown[],
  types: TableTypes | null = null,
  settings: BuildSettings = buildSettings(),
  builder: PayloadBuilder = createPayloadBuilder(settings),
): readonly BuiltWrite[] {
  return payloads.map((payload) => {
    const built = builder.build(checkPayload(payload, settings), types);
    if (isSinkError(built)) throw built;
    return built;
  });
}

/** Joins neighbours of one form as far as it lets them, and renders them. */
export function render(writes: readonly BuiltWrite[]): readonly Query[] {
  const runs: BuiltWrite[][] = [];
  for (const write of writes) {
    const run = runs.at(-1);
    if (run?.[0]?.form === write.form && run.length < write.form.maximumRows) run.push(write);
    else runs.push([write]);
  }
  return runs.map((run) => (run[0] as BuiltWrite).form.query(run));
}

/** Text and values of what payloads become. */
export function rendered(
  payloads: readonly unknown[],
  types: TableTypes | null = null,
  settings?: BuildSettings,
): readonly [string, unknown][] {
  return render(buildAll(payloads, types, settings)).map(({ text, values }) => [text, values]);
}

/** What guard 1 throws. */
export function guardOne(payload: unknown, settings: BuildSettings = buildSettings()): unknown {
  try {
    return checkPayload(payload, settings);
  } catch (error) {
    return error;
  }
}

/** What guard 2 answers for a payload that guard 1 lets through. */
export function guardTwo(payload: unknown, types: TableTypes | null = null, settings: BuildSettings = buildSettings()): unknown {
  return createPayloadBuilder(settings).build(checkPayload(payload, settings) as PostgresPayload, types);
}

import { isSinkError, PermanentSinkError, type SinkError } from "@sinks/core";
import { checkPayload, type PayloadSettings } from "../payload/check-payload.js";
import type { PostgresPayload, TablePayload } from "../payload/payload.js";
import { rejectPayload } from "../payload/payload-rejection.js";
import { createTargetTables, type TargetTable } from "../payload/target-table.js";
import type { NamedStatements } from "../statement/named-statement.js";
import { createStatementBuilder } from "../statement/statement-build.js";
import type { ColumnType, TableTypes } from "../value/column-type.js";
import { columnText, predicateText } from "../value/column-value.js";
import type { NulPolicy } from "../value/scalar-text.js";
import { ValueFault } from "../value/value-fault.js";
import type { BoundValue, BuiltWrite, Form } from "./built-write.js";
import { createShapes, type Shape } from "./shape.js";

/** What the build depends on besides the payload and the types of its table. */
export interface BuildSettings extends PayloadSettings {
  readonly nul: NulPolicy;
  readonly onZeroRows: Form["onZeroRows"];
  readonly statements: NamedStatements;
}

/** Turns checked payloads into writes; it keeps the forms that it made. */
export interface PayloadBuilder {
  /** The table whose types the build needs; null for a statement, and for what the build will refuse. */
  table(payload: PostgresPayload): TargetTable | null;
  /**
   * The write of a payload (guard 2, WO-GEN-09), or the permanent error of that payload alone (WO-GEN-10). Without types
   * arrays and objects are taken for JSON. `namesFromMessage` says that the message chose a table or columns (WO-ERR-05).
   */
  build(payload: PostgresPayload, types: TableTypes | null, namesFromMessage?: boolean): BuiltWrite | SinkError;
}

/** Makes the builder of a sink. */
export function createPayloadBuilder(settings: BuildSettings): PayloadBuilder {
  const omitUndefined = settings.undefinedData === "omit";
  const findTable = createTargetTables(settings.allowQuotedIdentifiers);
  const findShape = createShapes({
    omitUndefined,
    onZeroRows: settings.onZeroRows,
    check: (payload) => void checkPayload(payload, settings),
  });
  const buildStatement = createStatementBuilder(settings);

  function buildRow(payload: TablePayload, types: TableTypes | null, namesFromMessage: boolean): BuiltWrite {
    const table = findTable(payload.table);
    if (table === null) throw rejectPayload(payload.op ?? "insert", '"table" is no name of a table');
    const shape = findShape(payload, table);
    const { values, bytes } = encodeRow(payload, shape, shape.columnTypes(types), settings.nul);
    const conflict = shape.conflict === null ? null : conflictTuple(values, shape.conflict);
    return { form: shape.form, values, conflict, bytes, namesFromMessage };
  }

  return {
    table: (payload) => (payload.op === "statement" ? null : findTable(payload.table)),
    build: (payload, types, namesFromMessage = false) => {
      try {
        return payload.op === "statement" ? buildStatement(payload) : buildRow(payload, types, namesFromMessage);
      } catch (error) {
        if (isSinkError(error)) return error;
        // Nothing that a payload does when it is read may hold up its neighbours.
        return new PermanentSinkError("PostgreSQL payload: it could not be read", { code: "unexpected", cause: error });
      }
    },
  };
}

function encodeRow(
  payload: TablePayload,
  { data, equal }: Shape,
  types: readonly (ColumnType | undefined)[],
  nul: NulPolicy,
): Pick<BuiltWrite, "values" | "bytes"> {
  const values: BoundValue[] = [];
  let bytes = 0;
  if (payload.op !== "delete") {
    for (let index = 0; index < data.length; index += 1) {
      const name = data[index] as string;
      const text = encode(columnText, payload, "data", payload.data, name, types[index], nul);
      values.push(text);
      bytes += sizeOf(text);
    }
  }
  if (payload.op === "update" || payload.op === "delete") {
    for (let index = 0; index < equal.length; index += 1) {
      const name = equal[index] as string;
      const text = encode(predicateText, payload, "where", payload.where, name, types[data.length + index], nul);
      values.push(text);
      bytes += sizeOf(text);
    }
  }
  return { values, bytes };
}

function encode(
  encoder: typeof columnText,
  payload: TablePayload,
  field: string,
  record: Readonly<Record<string, unknown>>,
  name: string,
  type: ColumnType | undefined,
  nul: NulPolicy,
): BoundValue {
  try {
    return encoder(record[name], type, nul);
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    throw rejectPayload(payload.op ?? "insert", `${field}.${name}${error.path} ${error.message}`);
  }
}

/** Length prefixes keep tuples apart that would read the same; null for a tuple with a NULL, which conflicts with nothing. */
function conflictTuple(values: readonly BoundValue[], places: readonly number[]): string | null {
  if (places.length === 1) return values[places[0] as number] ?? null;
  let tuple = "";
  for (const place of places) {
    const value = values[place];
    if (value === null || value === undefined) return null;
    tuple += `${value.length}:${value}`;
  }
  return tuple;
}

/** Longer texts are measured; the difference between characters and bytes of a short one does not matter. */
const measuredFrom = 64;

function sizeOf(value: BoundValue): number {
  if (value === null) return 4;
  return 4 + (value.length < measuredFrom ? value.length : Buffer.byteLength(value));
}

import type { Operation } from "./built-write.js";
import { isPlainIdentifier, isQuotableIdentifier, type TableName, tableParts } from "./identifier.js";
import type { PostgresPayload, Predicate, Row } from "./payload.js";
import { operationFields, type PayloadField, payloadFields } from "./payload-fields.js";
import { rejectPayload } from "./payload-rejection.js";
import { isPlainRecord } from "./plain-record.js";

/** What the form of a payload depends on besides the payload. */
export interface PayloadSettings {
  /** `allow_quoted_identifiers` (WO-PG-15). */
  readonly allowQuotedIdentifiers: boolean;
  /** `undefined_data` (WO-VAL-01). */
  readonly undefinedData: "reject" | "omit";
}

/** The fields of a payload under their API names, whichever form each was given in. */
type GivenFields = { op: unknown } & Record<PayloadField, unknown>;

/**
 * Checks one payload when it is made (guard 1, WO-GEN-09) and gives it back with API names. Throws `ValidationError` for
 * anything but exactly the fields of its operation, each of its form; values are encoded, and judged further, by the build.
 */
export function checkPayload(value: unknown, settings: PayloadSettings): PostgresPayload {
  if (!isPlainRecord(value)) throw rejectPayload("unknown op", "it must be a plain object");
  const given = readFields(value);
  const operation = operationOf(given.op);
  const used = operationFields[operation];
  for (const field of payloadFields) {
    const use = used[field];
    const set = given[field];
    if (use === undefined) {
      if (set !== undefined) throw rejectPayload(operation, `it does not use "${field}"`);
    } else if (use === "required" && isEmpty(set)) throw rejectPayload(operation, `it requires "${field}"`);
  }
  return checkForm(operation, given, settings);
}

function readFields(value: Readonly<Record<string, unknown>>): GivenFields {
  const given: GivenFields = {
    op: undefined,
    table: undefined,
    data: undefined,
    where: undefined,
    conflict: undefined,
    updateColumns: undefined,
    newestBy: undefined,
    statement: undefined,
    params: undefined,
  };
  for (const name of Object.keys(value)) {
    const field = fieldOf(name);
    if (field === null) {
      const shown = isPlainIdentifier(name) ? `"${name}"` : "a field that no operation has";
      throw rejectPayload(describeOperation(value["op"]), `it does not use ${shown}`);
    }
    if (given[field] !== undefined && value[name] !== undefined) {
      throw rejectPayload(describeOperation(value["op"]), `"${field}" is given in both of its forms`);
    }
    if (value[name] !== undefined) given[field] = value[name];
  }
  return given;
}

function fieldOf(name: string): keyof GivenFields | null {
  switch (name) {
    case "op":
    case "table":
    case "data":
    case "where":
    case "conflict":
    case "updateColumns":
    case "newestBy":
    case "statement":
    case "params":
      return name;
    case "update_columns":
      return "updateColumns";
    case "newest_by":
      return "newestBy";
    default:
      return null;
  }
}

function isOperation(op: unknown): op is Operation {
  return typeof op === "string" && Object.hasOwn(operationFields, op);
}

function describeOperation(op: unknown): string {
  return op === undefined ? "insert" : isOperation(op) ? op : "unknown op";
}

function operationOf(op: unknown): Operation {
  if (op === undefined) return "insert";
  if (!isOperation(op)) throw rejectPayload("unknown op", `"op" must be one of ${Object.keys(operationFields).join(", ")}`);
  return op;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlainRecord(value) && Object.keys(value).length === 0;
}

function checkForm(op: Operation, given: GivenFields, settings: PayloadSettings): PostgresPayload {
  if (op === "statement") {
    if (typeof given.statement !== "string") throw rejectPayload(op, '"statement" must be the name of a statement');
    return { op, statement: given.statement, params: checkParams(given.params) };
  }
  const quoted = settings.allowQuotedIdentifiers;
  if (tableParts(given.table, quoted) === null)
    throw rejectPayload(op, '"table" must be t, schema.t or [schema, t], each name an identifier');
  const table = given.table as TableName;
  if (op === "delete") return { op, table, where: checkRecord(op, "where", given.where, quoted, false) as Predicate };
  const data = checkRecord(op, "data", given.data, quoted, settings.undefinedData === "omit") as Row;
  if (op === "insert") return { op, table, data };
  if (op === "update") return { op, table, data, where: checkRecord(op, "where", given.where, quoted, false) as Predicate };
  const conflict = checkColumns("conflict", given.conflict, quoted);
  const { updateColumns, newestBy } = given;
  if (newestBy !== undefined) {
    if (!isColumn(newestBy, quoted)) throw rejectPayload(op, '"newestBy" must be the name of a column');
    if (conflict.includes(newestBy)) throw rejectPayload(op, '"newestBy" names a column of "conflict"');
  }
  return {
    op,
    table,
    data,
    conflict,
    ...(updateColumns !== undefined && { updateColumns: checkUpdateColumns(updateColumns, conflict, quoted) }),
    ...(newestBy !== undefined && { newestBy }),
  };
}

/** Names first, so that a path never shows what is no name. */
function checkRecord(op: Operation, field: PayloadField, value: unknown, quoted: boolean, mayOmit: boolean): object {
  if (!isPlainRecord(value)) throw rejectPayload(op, `"${field}" must be a plain object`);
  for (const name of Object.keys(value)) {
    if (!isColumn(name, quoted)) throw rejectPayload(op, `"${field}" has a name that is no name of a column`);
    if (value[name] === undefined && !mayOmit) throw rejectPayload(op, `${field}.${name} is undefined`);
  }
  return value;
}

function checkParams(value: unknown): Row {
  if (value === undefined || value === null) return {};
  if (!isPlainRecord(value)) throw rejectPayload("statement", '"params" must be a plain object');
  for (const name of Object.keys(value)) {
    if (value[name] !== undefined) continue;
    throw rejectPayload("statement", isPlainIdentifier(name) ? `params.${name} is undefined` : "a value of params is undefined");
  }
  return value as Row;
}

function checkColumns(field: PayloadField, value: unknown, quoted: boolean): readonly string[] {
  if (!Array.isArray(value)) throw rejectPayload("upsert", `"${field}" must be a list of columns`);
  for (let index = 0; index < value.length; index += 1) {
    const name: unknown = value[index];
    if (!isColumn(name, quoted)) throw rejectPayload("upsert", `"${field}" has an entry that is no name of a column`);
    if (value.indexOf(name) !== index) throw rejectPayload("upsert", `"${field}" names "${name}" twice`);
  }
  return value as readonly string[];
}

function checkUpdateColumns(value: unknown, conflict: readonly string[], quoted: boolean): readonly string[] {
  const columns = checkColumns("updateColumns", value, quoted);
  for (const name of columns) {
    if (conflict.includes(name)) throw rejectPayload("upsert", `"updateColumns" and "conflict" overlap in "${name}"`);
  }
  return columns;
}

function isColumn(name: unknown, quoted: boolean): name is string {
  return typeof name === "string" && (isPlainIdentifier(name) || (quoted && isQuotableIdentifier(name)));
}

import type { ValidationError } from "@sinks/core";
import { isPlainRecord } from "@sinks/core";
import type { Operation } from "../render/built-write.js";
import { isPlainIdentifier, isQuotableIdentifier, type TableName, tableParts } from "./identifier.js";
import type { PostgresPayload, Predicate, Row, UpsertPayload } from "./payload.js";
import { rejectPayload } from "./payload-rejection.js";

/** What the form of a payload depends on besides the payload. */
export interface PayloadSettings {
  /** `allow_quoted_identifiers` (WO-PG-15). */
  readonly allowQuotedIdentifiers: boolean;
  /** `undefined_data` (WO-VAL-01). */
  readonly undefinedData: "reject" | "omit";
}

type Given = Readonly<Record<string, unknown>>;

/**
 * Checks one payload when it is made (guard 1, WO-GEN-09) and gives it back with API names. Throws `ValidationError` for
 * anything but exactly the fields of its operation, each of its form; values are encoded, and judged further, by the build.
 */
export function checkPayload(value: unknown, settings: PayloadSettings): PostgresPayload {
  if (!isPlainRecord(value)) throw rejectPayload("unknown op", "it must be a plain object");
  const op = operationOf(value["op"]);
  // The usual payload has only keys that its operation uses, so that the fields are looked at once, by `checkForm`.
  for (const name of Object.keys(value)) {
    if (name !== "op" && !mayHave(op, name) && value[name] !== undefined) throw rejectPayload(op, `it does not use ${describeField(name)}`);
  }
  return checkForm(op, value, settings);
}

function mayHave(op: Operation, name: string): boolean {
  switch (name) {
    case "table":
      return op !== "statement";
    case "data":
      return op !== "delete" && op !== "statement";
    case "where":
      return op === "update" || op === "delete";
    case "conflict":
    case "updateColumns":
    case "newestBy":
    case "update_columns":
    case "newest_by":
      return op === "upsert";
    case "statement":
    case "params":
      return op === "statement";
    default:
      return false;
  }
}

/** API name of a field; anything that is no name at all is not shown. */
function describeField(name: string): string {
  if (name === "update_columns" || name === "newest_by") return name === "newest_by" ? '"newestBy"' : '"updateColumns"';
  return isPlainIdentifier(name) ? `"${name}"` : "a field that no operation has";
}

function operationOf(op: unknown): Operation {
  switch (op) {
    case undefined:
      return "insert";
    case "insert":
    case "update":
    case "upsert":
    case "delete":
    case "statement":
      return op;
    default:
      throw rejectPayload("unknown op", '"op" must be one of insert, update, upsert, delete, statement');
  }
}

/** Required fails when absent, null, `""`, `[]` or `{}` (WO-GEN-07). */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlainRecord(value) && Object.keys(value).length === 0;
}

/** The error of a required field that is not of its form: an empty one is missing. */
function misfit(op: Operation, field: string, value: unknown, form: string): ValidationError {
  return rejectPayload(op, isEmpty(value) ? `it requires "${field}"` : `"${field}" must be ${form}`);
}

function checkForm(op: Operation, given: Given, settings: PayloadSettings): PostgresPayload {
  if (op === "statement") {
    const { statement, params } = given;
    if (typeof statement !== "string" || statement === "") throw misfit(op, "statement", statement, "the name of a statement");
    return { op, statement, params: checkParams(params) };
  }
  const quoted = settings.allowQuotedIdentifiers;
  const table = given["table"] as TableName;
  if (tableParts(table, quoted) === null) throw misfit(op, "table", table, "t, schema.t or [schema, t], each name an identifier");
  if (op === "delete") return { op, table, where: checkRecord(op, "where", given["where"], quoted, false) as Predicate };
  const data = checkRecord(op, "data", given["data"], quoted, settings.undefinedData === "omit") as Row;
  if (op === "insert") return { op, table, data };
  if (op === "update") return { op, table, data, where: checkRecord(op, "where", given["where"], quoted, false) as Predicate };
  return checkUpsert(given, table, data, quoted);
}

function checkUpsert(given: Given, table: TableName, data: Row, quoted: boolean): UpsertPayload {
  const { conflict } = given;
  if (isEmpty(conflict)) throw rejectPayload("upsert", 'it requires "conflict"');
  const payload: Writable<UpsertPayload> = { op: "upsert", table, data, conflict: checkColumns("conflict", conflict, quoted) };
  const updateColumns = eitherForm(given, "updateColumns", "update_columns");
  if (updateColumns !== undefined) payload.updateColumns = checkUpdateColumns(updateColumns, payload.conflict, quoted);
  const newestBy = eitherForm(given, "newestBy", "newest_by");
  if (newestBy === undefined) return payload;
  if (!isColumn(newestBy, quoted)) throw rejectPayload("upsert", '"newestBy" must be the name of a column');
  if (payload.conflict.includes(newestBy)) throw rejectPayload("upsert", '"newestBy" names a column of "conflict"');
  payload.newestBy = newestBy;
  return payload;
}

type Writable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };

/** A configuration spells a field with underscores; the two spellings are one field. */
function eitherForm(given: Given, name: string, configured: string): unknown {
  const value = given[name];
  if (value === undefined) return given[configured];
  if (given[configured] !== undefined) throw rejectPayload("upsert", `"${name}" is given in both of its forms`);
  return value;
}

/** Names first, so that a path never shows what is no name. */
function checkRecord(op: Operation, field: string, value: unknown, quoted: boolean, mayOmit: boolean): Given {
  if (!isPlainRecord(value)) throw misfit(op, field, value, "a plain object");
  const names = Object.keys(value);
  if (names.length === 0) throw rejectPayload(op, `it requires "${field}"`);
  for (const name of names) {
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

function checkColumns(field: string, value: unknown, quoted: boolean): readonly string[] {
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

import type { TablePayload, UpsertPayload } from "../payload/payload.js";
import { rejectPayload } from "../payload/payload-rejection.js";
import type { TargetTable } from "../payload/target-table.js";
import type { ColumnType, TableTypes } from "../value/column-type.js";
import { BoundedMap } from "./bounded-map.js";
import type { Form } from "./built-write.js";
import { maximumParameters } from "./maximum-parameters.js";
import { createRecentShapes } from "./recent-shapes.js";
import { createRowForm } from "./row-form.js";
import { namesKey, namesOf, type ShapeNames, sortNames } from "./shape-names.js";
import { createSingleForm, deleteText, updateText } from "./single-form.js";
import { createValuesLists } from "./values-list.js";

/** What the names of a payload decide, so that a write only has to encode its values (WO-PG-20). */
export interface Shape {
  readonly form: Form;
  /** Operation and text without rows: equal for equal shapes only. */
  readonly text: string;
  /** Columns of the data, then columns of the predicate, whose values are bound; each group sorted (WO-PG-05). */
  readonly data: readonly string[];
  readonly equal: readonly string[];
  /** Places of the conflict columns among the data; null unless all of them are there. */
  readonly conflict: readonly number[] | null;
  /** Types of the bound columns, in their order. */
  columnTypes(types: TableTypes | null): readonly (ColumnType | undefined)[];
}

/** What shapes depend on. */
export interface ShapeSettings {
  readonly omitUndefined: boolean;
  readonly onZeroRows: Form["onZeroRows"];
  /**
   * Throws for a payload that breaks guard 1. Asked before a shape is made, so that no name reaches a text that was not
   * checked as it stands there, also when the payload was changed meanwhile (WO-GEN-09).
   */
  readonly check: (payload: TablePayload) => void;
}

/** Finds the shape of a payload. */
export type ShapeFinder = (payload: TablePayload, table: TargetTable) => Shape;

/** Shapes that are kept: a message may choose its columns, so their number has no bound of its own. */
const limit = 1000;
/** Shapes with longer names are found among the recent ones only, so that what is kept stays within some tens of megabytes. */
const longestKey = 16_384;

/** Makes and keeps shapes. Equal shapes have one form, whatever the order of the names in their payloads. */
export function createShapes(settings: ShapeSettings): ShapeFinder {
  const recent = createRecentShapes();
  const byGivenNames = new BoundedMap<Shape>(limit);
  const byText = new BoundedMap<Shape>(limit);
  const valuesList = createValuesLists();
  return (payload, table) => {
    const given = namesOf(payload, settings.omitUndefined);
    return recent.find(payload, table, given) ?? recent.add(payload, table, given, byNames(payload, table, given));
  };

  function byNames(payload: TablePayload, table: TargetTable, given: ShapeNames): Shape {
    const key = namesKey(payload, table, given);
    const known = byGivenNames.get(key);
    if (known !== undefined) return known;
    settings.check(payload);
    checkEmptiness(payload, given);
    const names = sortNames(given);
    const form = createForm(payload, table, names, settings.onZeroRows, valuesList);
    const text = `${form.operation} ${form.query([]).text}`;
    const shape = byText.get(text) ?? recent.withText(text) ?? createShape(payload, form, text, names);
    if (key.length > longestKey) return shape;
    byText.add(text, shape);
    return byGivenNames.add(key, shape);
  }
}

/** Nothing is sent without data or without a predicate, also when all of it was left out since guard 1 (WO-PG-06). */
function checkEmptiness({ op = "insert" }: TablePayload, { data, equal, absent }: ShapeNames): void {
  if (op !== "delete" && data.length === 0) throw rejectPayload(op, 'it requires "data": all of it is undefined');
  if ((op === "update" || op === "delete") && equal.length + absent.length === 0) throw rejectPayload(op, 'it requires "where"');
}

function createShape(payload: TablePayload, form: Form, text: string, { data, equal }: ShapeNames): Shape {
  const places = payload.op === "upsert" ? payload.conflict.map((name) => data.indexOf(name)) : [-1];
  return { form, text, data, equal, conflict: places.includes(-1) ? null : places, columnTypes: rememberTypes([...data, ...equal]) };
}

function createForm(
  payload: TablePayload,
  table: TargetTable,
  { data, equal, absent }: ShapeNames,
  onZeroRows: Form["onZeroRows"],
  valuesList: (columns: number, rows: number) => string,
): Form {
  const { op = "insert" } = payload;
  if (data.length + equal.length > maximumParameters) throw rejectPayload(op, `it has more than ${maximumParameters} values`);
  const target = { destination: table.label, table: table.text };
  switch (payload.op) {
    case "update":
      return createSingleForm("update", target, updateText(table, data, equal, absent), onZeroRows);
    case "delete":
      return createSingleForm("delete", target, deleteText(table, equal, absent), onZeroRows);
    case "upsert": {
      const { conflict, newestBy = null } = payload;
      const complete = conflict.every((name) => data.includes(name));
      return createRowForm(table, data, { conflict, update: updateList(payload, data), newestBy, complete }, valuesList);
    }
    default:
      return createRowForm(table, data, null, valuesList);
  }
}

/** Overwritten columns: those asked for, else all but the conflict columns (WO-PG-09). */
function updateList({ conflict, updateColumns, newestBy }: UpsertPayload, data: readonly string[]): readonly string[] {
  const missing = updateColumns?.find((name) => !data.includes(name));
  if (missing !== undefined) throw rejectPayload("upsert", `column "${missing}" of updateColumns is not present in data`);
  if (newestBy !== undefined && !data.includes(newestBy)) {
    throw rejectPayload("upsert", `column "${newestBy}" of newestBy is not present in data`);
  }
  return updateColumns ?? data.filter((name) => !conflict.includes(name));
}

/** The types of a table change seldom: they are looked up once for each version of them. */
function rememberTypes(columns: readonly string[]): Shape["columnTypes"] {
  let known: TableTypes | null = null;
  let found: readonly (ColumnType | undefined)[] = columns.map(() => undefined);
  return (types) => {
    if (types !== known) {
      known = types;
      found = columns.map((name) => types?.get(name));
    }
    return found;
  };
}

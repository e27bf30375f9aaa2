import type { Operation } from "./built-write.js";

/** Fields of a payload besides `op`. */
export type PayloadField = "table" | "data" | "where" | "conflict" | "updateColumns" | "newestBy" | "statement" | "params";

/** All fields of a payload. */
export const payloadFields: readonly PayloadField[] = [
  "table",
  "data",
  "where",
  "conflict",
  "updateColumns",
  "newestBy",
  "statement",
  "params",
];

/** Which fields an operation requires and which it may have; it uses no others (WO-PG-01). */
export const operationFields: Readonly<Record<Operation, Readonly<Partial<Record<PayloadField, "required" | "optional">>>>> = {
  insert: { table: "required", data: "required" },
  update: { table: "required", data: "required", where: "required" },
  upsert: { table: "required", data: "required", conflict: "required", updateColumns: "optional", newestBy: "optional" },
  delete: { table: "required", where: "required" },
  statement: { statement: "required", params: "optional" },
};

export { postgres } from "./connector.js";
export type { TableName } from "./identifier.js";
export { type JsonText, json } from "./json-text.js";
export { type PostgresOptions, postgresOptions } from "./options.js";
export type { ParamTypeText, ScalarType } from "./param-type.js";
export type {
  ColumnValue,
  DeletePayload,
  InsertPayload,
  PostgresPayload,
  Predicate,
  Row,
  Scalar,
  TablePayload,
  UpdatePayload,
  UpsertPayload,
} from "./payload.js";
export type { AnyStatements, StatementPayload } from "./statement-payload.js";

export { postgres } from "./connector.js";
export { type PostgresOptions, postgresOptions } from "./options.js";
export type { TableName } from "./payload/identifier.js";
export { type JsonText, json } from "./payload/json-text.js";
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
} from "./payload/payload.js";
export type { AnyStatements, StatementPayload } from "./payload/statement-payload.js";
export { createPostgresSink, type PostgresSink, type PostgresSinkExtras } from "./sink.js";
export type { ParamTypeText, ScalarType } from "./value/param-type.js";

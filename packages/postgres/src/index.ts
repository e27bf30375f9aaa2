export { postgres } from "./connector.js";
export { type PostgresOptions, postgresOptions } from "./options.js";

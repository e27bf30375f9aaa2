import { type ConnectorServices, NotAttemptedError, type Sink } from "@sinks/core";
import { toPostgresError } from "./errors.js";
import type { PostgresOptions } from "./options.js";

/** The PostgreSQL sink. States: created, running between `start` and `stop`, stopped. */
export function createPostgresSink(_options: PostgresOptions, _services: ConnectorServices): Sink {
  return {
    start: async () => {
      throw toPostgresError(null);
    },
    writeBatch: async () => {
      throw new NotAttemptedError("the PostgreSQL sink is not running");
    },
    stop: async () => undefined,
  };
}

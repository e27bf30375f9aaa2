import { type ConnectorServices, DestinationUnavailableError, NotAttemptedError, type Sink } from "@sinks/core";
import type { PostgresOptions } from "./options.js";

/** The PostgreSQL sink. States: created, running between `start` and `stop`, stopped. */
export function createPostgresSink(_options: PostgresOptions, _services: ConnectorServices): Sink {
  return {
    start: async () => {
      throw new DestinationUnavailableError("the PostgreSQL sink cannot write yet");
    },
    writeBatch: async () => {
      throw new NotAttemptedError("the PostgreSQL sink is not running");
    },
    stop: async () => undefined,
  };
}

import { PostgresClient } from "../src/client.js";
import type { PipelineResult, QueryResult } from "../src/connection/session.js";
import type { PostgresOptions } from "../src/options.js";
import { postgresOptions } from "../src/options.js";
import type { Query } from "../src/render/built-write.js";

/** Options of the sink for a test. */
export function options(given: Record<string, unknown>): PostgresOptions {
  return postgresOptions.parse(given);
}

/** A started client that a test must not forget to stop. */
export async function startClient(
  given: Record<string, unknown>,
  connected: () => void = () => undefined,
): Promise<PostgresClient & AsyncDisposable> {
  const client = new PostgresClient(options(given), { workingDirectory: "/", connected });
  await client.start(new AbortController().signal);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.stop() });
}

/** A query whose plan is kept. */
export function query(text: string, ...values: Query["values"]): Query {
  return { text, values, prepare: true };
}

/** The results of a pipeline that must have succeeded. */
export function succeeded({ done, failure }: PipelineResult): readonly QueryResult[] {
  if (failure !== null) throw failure.error;
  return done;
}

/** A signal that never comes. */
export const never = new AbortController().signal;

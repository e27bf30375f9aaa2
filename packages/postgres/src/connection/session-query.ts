import { toPostgresError } from "../errors.js";
import type { Query } from "../render/built-write.js";
import type { QueryResult, Session } from "./session.js";

/** Sends one query that is not kept prepared; throws the `SinkError` of its failure. `what` names the thing asked about. */
export async function query(session: Session, what: string, text: string, values: Query["values"] = []): Promise<QueryResult> {
  const { done, failure } = await session.pipeline([{ text, values, prepare: false }]);
  if (failure !== null) throw toPostgresError(failure, what, false);
  return done[0] as QueryResult;
}

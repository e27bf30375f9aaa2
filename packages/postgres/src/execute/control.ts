import type { Query } from "../render/built-write.js";

function command(text: string): Query {
  return Object.freeze({ text, values: Object.freeze([]), prepare: false });
}

/** The commands around writes; fixed texts that no value of a message reaches. */
export const control = Object.freeze({
  begin: command("BEGIN"),
  commit: command("COMMIT"),
  rollback: command("ROLLBACK"),
  /** A savepoint before a segment of isolation. */
  markSegment: command("SAVEPOINT sinks_segment"),
  releaseSegment: command("RELEASE SAVEPOINT sinks_segment"),
  undoSegment: command("ROLLBACK TO SAVEPOINT sinks_segment"),
  /** A savepoint before a statement that may be halved. */
  markChunk: command("SAVEPOINT sinks_chunk"),
  releaseChunk: command("RELEASE SAVEPOINT sinks_chunk"),
  undoChunk: command("ROLLBACK TO SAVEPOINT sinks_chunk"),
  defer: command("SET CONSTRAINTS ALL DEFERRED"),
  check: command("SET CONSTRAINTS ALL IMMEDIATE"),
});

/** Limits that the server keeps for the rest of the transaction (WO-PG-34). */
export interface Limits {
  readonly statementMs: number;
  readonly lockMs: number;
}

/** The commands that set limits for one transaction. */
export function limitCommands({ statementMs, lockMs }: Limits): readonly Query[] {
  return [command(`SET LOCAL statement_timeout = ${Math.trunc(statementMs)}`), command(`SET LOCAL lock_timeout = ${Math.trunc(lockMs)}`)];
}

import type { Connection, Submittable } from "pg";
import { driverError } from "../driver-error.js";
import type { Query } from "../render/built-write.js";
import type { PipelineResult, QueryResult, SessionFailure } from "./session.js";
import type { StatementCache } from "./statement-cache.js";

/** Bytes that may wait in the socket before the pipeline holds back: above the socket's own mark, so that it tells of room. */
const mostWaitingBytes = 262_144;

const ignore = (): void => undefined;
const noRows: QueryResult["rows"] = Object.freeze([]);

/**
 * Queries that go to the server with one Sync (WO-PG-24), as the driver's `Submittable`. States: waiting, writing, written,
 * failed (the server skips what follows up to the Sync), settled. It settles when the server is ready again, or when the
 * connection is lost; the driver tells of the first failure only, so the connection calls `confirm`, `ready` and `lose`.
 */
export class Pipeline implements Submittable {
  readonly result: Promise<PipelineResult>;
  readonly #queries: readonly Query[];
  readonly #statements: StatementCache | null;
  readonly #done: QueryResult[] = [];
  #settle: (result: PipelineResult) => void = () => undefined;
  #rows: (readonly (string | null)[])[] = [];
  #tag = "";
  #command = "";
  #count: number | null = null;
  #failure: { code: string | null; error: unknown } | null = null;
  #handed = 0;
  #synced = false;
  #unnamed: string | null = null;

  /** `statements` are the plans of the connection; null where none may be kept. */
  constructor(queries: readonly Query[], statements: StatementCache | null) {
    this.#queries = queries;
    this.#statements = statements;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Called by the driver when its connection is free. */
  submit(connection: Connection): Error | null {
    if (!connection.stream.writable) return new Error("the connection is closed");
    this.#write(connection);
    return null;
  }

  #write(connection: Connection): void {
    const { stream } = connection;
    if (this.#synced || !stream.writable) return;
    stream.cork();
    if (this.#handed === 0) {
      for (const name of this.#statements?.takeStale() ?? []) connection.close({ type: "S", name }, true);
    }
    while (this.#failure === null && stream.writableLength < mostWaitingBytes) {
      const query = this.#queries[this.#handed];
      if (query === undefined) break;
      this.#handed += 1;
      this.#send(connection, query);
    }
    if (this.#failure !== null || this.#handed === this.#queries.length) {
      this.#synced = true;
      connection.sync();
    } else {
      stream.once("drain", () => this.#write(connection));
    }
    stream.uncork();
  }

  #send(connection: Connection, query: Query): void {
    const statement = this.#parse(connection, query);
    connection.bind({ statement, values: query.values.map(toWire) }, true);
    // No Describe: rows are told by place, not by name.
    connection.execute(null, true);
  }

  /** Makes the text bindable, once for all its neighbours, and answers the name. */
  #parse(connection: Connection, { text, prepare }: Query): string {
    if (prepare && this.#statements !== null) {
      const { name, close, parse } = this.#statements.prepare(text);
      if (close !== null) connection.close({ type: "S", name: close }, true);
      if (parse) connection.parse({ name, text, types: [] }, true);
      return name;
    }
    if (this.#unnamed !== text) {
      this.#unnamed = text;
      this.#statements?.passUnnamed();
      connection.parse({ name: "", text, types: [] }, true);
    }
    return "";
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    if (text !== this.#tag) {
      this.#tag = text;
      const [, command = text, count] = /^(.*?)(?: \d+)? (\d+)$/.exec(text) ?? [];
      this.#command = command;
      this.#count = count === undefined ? null : Number(count);
    }
    this.#complete(this.#command, this.#count);
  }

  handleEmptyQuery(): void {
    this.#complete("", null);
  }

  #complete(command: string, count: number | null): void {
    this.#done.push({ command, count, rows: this.#rows.length === 0 ? noRows : this.#rows });
    if (this.#rows.length > 0) this.#rows = [];
  }

  /** The server waits for rows that it will not get: only a new connection gets it out of that. */
  handleCopyInResponse(connection: Connection): void {
    this.#finish({ kind: "server", code: "0A000", sent: this.#handed, error: { code: "0A000", severity: "ERROR" } });
    connection.stream.destroy();
  }

  /** What the driver wants to hand on and nobody needs: rows of COPY TO, descriptions, and the ready server, which `ready` hears of. */
  readonly handleCopyData = ignore;
  readonly handleRowDescription = ignore;
  readonly handlePortalSuspended = ignore;
  readonly handleReadyForQuery = ignore;

  /** The server's error, or the end of the connection; the driver forgets the pipeline here. */
  handleError(error: Error, connection: Connection): void {
    const { code, severity } = driverError(error);
    if (severity === null) return this.lose(error);
    this.#failure ??= { code, error };
    // What is not written yet would be skipped.
    this.#write(connection);
  }

  /** The server did the next Parse or Close. */
  confirm(): void {
    this.#statements?.confirm();
  }

  /** The server is ready for what comes next. */
  ready(): void {
    this.#finish(this.#failure === null ? null : { kind: "server", sent: this.#handed, ...this.#failure });
  }

  /** The connection is gone, by itself or by us. */
  lose(error: unknown): void {
    const last = this.#failure ?? { code: driverError(error).code, error };
    this.#finish({ kind: "lost", sent: this.#handed, ...last });
  }

  #finish(failure: SessionFailure | null): void {
    this.#synced = true;
    this.#statements?.settle();
    this.#settle({ done: this.#done, failure });
  }
}

function toWire(value: Query["values"][number]): string | Buffer | null {
  if (value === null || typeof value === "string" || Buffer.isBuffer(value)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

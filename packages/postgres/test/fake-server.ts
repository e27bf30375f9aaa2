import type { PipelineResult, QueryResult, Session, SessionFailure, Sessions } from "../src/connection/session.js";
import type { BoundValue, BuiltWrite, Form, Query } from "../src/render/built-write.js";

/** A row of the fake database. */
export interface FakeRow {
  readonly id: string;
  /** What is unique to the fake database, by its own sense of equality. */
  readonly key: string;
}

/** Facts that a judge of statements may look at. */
export interface FakeFacts {
  readonly table: string;
  readonly deferred: boolean;
  /** Rows that stand in the table for this transaction. */
  readonly stored: readonly FakeRow[];
  readonly limits: ReadonlyMap<string, string>;
}

interface FakeState {
  readonly rows: readonly (FakeRow & { readonly table: string })[];
  readonly records: ReadonlySet<string>;
}

interface FakeTransaction {
  readonly before: FakeState;
  readonly explicit: boolean;
  failed: boolean;
  deferred: boolean;
  readonly limits: Map<string, string>;
  readonly savepoints: { readonly name: string; readonly state: FakeState }[];
}

const serverError = (code: string, routine?: string): SessionFailure => ({
  kind: "server",
  code,
  sent: Number.MAX_SAFE_INTEGER,
  error: Object.assign(new Error(`fake ${code}`), { code, routine, severity: "ERROR" }),
});

/** The protocol's rules in memory: pipelines that end at a failure, transactions, savepoints, deferred checks, a ledger. */
export class FakeServer implements Sessions {
  state: FakeState = { rows: [], records: new Set() };
  /** Texts of every pipeline that arrived. */
  readonly pipelines: string[][] = [];
  /** Keys of every claim, as they came. */
  readonly claims: string[][] = [];
  commits = 0;
  /** Most savepoints that a transaction had at a time. */
  savepoints = 0;
  /** SQLSTATE that a statement fails with; null when it passes. */
  judge: (rows: readonly FakeRow[], facts: FakeFacts) => string | null = () => null;
  /** SQLSTATE that a claim in the ledger fails with. */
  judgeClaim: (keys: readonly string[]) => string | null = () => null;
  /** SQLSTATE that the check of deferred constraints fails with. */
  judgeDeferred: (rows: readonly FakeRow[]) => string | null = () => null;
  /** SQLSTATE of a COMMIT that is refused, or ROLLBACK for the tag of a transaction that was in fact rolled back. */
  judgeCommit: (rows: readonly FakeRow[]) => string | null = () => null;
  /** Rows that a statement touches. */
  touched: (rows: readonly FakeRow[]) => number | null = (rows) => rows.length;
  /** Loses the connection in front of a query of a pipeline; with `behind` after the whole pipeline, whose replies are lost. All of it was sent, or `sent`. */
  lose:
    | ((pipeline: readonly string[], count: number) => { readonly at: number; readonly behind?: boolean; readonly sent?: number } | null)
    | null = null;
  routine: string | undefined;
  #transaction: FakeTransaction | null = null;
  #lost = false;

  get ids(): string[] {
    return this.state.rows.map(({ id }) => id);
  }

  get open(): boolean {
    return this.#transaction !== null;
  }

  /** How many segments isolations have tried. */
  get segments(): number {
    return this.pipelines.flat().filter((text) => text === "SET CONSTRAINTS ALL DEFERRED").length;
  }

  async use<Result>(_signal: AbortSignal, work: (session: Session) => Promise<Result>): Promise<Result> {
    this.#lost = false;
    return work({ pipeline: async (queries) => this.#pipeline(queries) });
  }

  #pipeline(queries: readonly Query[]): PipelineResult {
    if (this.#lost) return { done: [], failure: { kind: "lost", code: null, sent: 0, error: null } };
    const texts = queries.map(({ text }) => text);
    this.pipelines.push(texts);
    const loss = this.lose?.(texts, this.pipelines.length) ?? null;
    const done: QueryResult[] = [];
    for (const [index, query] of queries.entries()) {
      if (loss !== null && loss.behind !== true && loss.at === index) return this.#loseConnection(done, loss.sent ?? queries.length);
      const answer = this.#run(query);
      if ("kind" in answer) {
        if (this.#transaction?.explicit === true) this.#transaction.failed = true;
        else this.#roll();
        return { done, failure: answer };
      }
      done.push(answer);
    }
    if (this.#transaction?.explicit === false) {
      const refused = this.judgeDeferred(this.state.rows) ?? this.judgeCommit(this.state.rows);
      if (refused !== null) {
        this.#roll();
        return { done, failure: serverError(refused) };
      }
      this.#transaction = null;
      this.commits += 1;
    }
    return loss === null ? { done, failure: null } : this.#loseConnection(done.slice(0, loss.at), queries.length);
  }

  #loseConnection(done: readonly QueryResult[], sent: number): PipelineResult {
    this.#lost = true;
    if (this.#transaction !== null) this.#roll();
    return { done, failure: { kind: "lost", code: "ECONNRESET", sent, error: new Error("fake reset") } };
  }

  #roll(): void {
    if (this.#transaction !== null) this.state = this.#transaction.before;
    this.#transaction = null;
  }

  #run(query: Query): QueryResult | SessionFailure {
    const [command, name] = [query.text.split(" ")[0] as string, query.text.split(" ").at(-1) as string];
    const transaction = this.#transaction;
    const reply = (count = 0, tag = command, rows: QueryResult["rows"] = []): QueryResult => ({ command: tag, count, rows });
    if (query.text === "BEGIN") {
      this.#begin(true);
      return reply();
    }
    if (query.text === "ROLLBACK") {
      this.#roll();
      return reply();
    }
    if (query.text === "COMMIT") return this.#commit(reply);
    if (query.text.startsWith("ROLLBACK TO")) {
      const place = transaction?.savepoints.findLastIndex((savepoint) => savepoint.name === name) ?? -1;
      if (transaction === null || place < 0) return serverError("3B001");
      transaction.savepoints.length = place + 1;
      this.state = (transaction.savepoints[place] as { state: FakeState }).state;
      transaction.failed = false;
      return reply();
    }
    if (transaction?.failed === true) return serverError("25P02");
    if (command === "SAVEPOINT" && transaction !== null) {
      transaction.savepoints.push({ name, state: this.state });
      this.savepoints = Math.max(this.savepoints, transaction.savepoints.length);
      return reply();
    }
    if (command === "RELEASE" && transaction !== null) {
      const place = transaction.savepoints.findLastIndex((savepoint) => savepoint.name === name);
      if (place < 0) return serverError("3B001");
      transaction.savepoints.length = place;
      return reply();
    }
    if (query.text === "SET CONSTRAINTS ALL DEFERRED" && transaction !== null) {
      transaction.deferred = true;
      return reply();
    }
    if (query.text === "SET CONSTRAINTS ALL IMMEDIATE" && transaction !== null) {
      transaction.deferred = false;
      const refused = this.judgeDeferred(this.state.rows);
      return refused === null ? reply() : serverError(refused);
    }
    if (query.text.startsWith("SET LOCAL") && transaction !== null) {
      transaction.limits.set(query.text.split(" ")[2] as string, name);
      return reply();
    }
    if (query.text.includes("unnest")) return this.#claim(query);
    if (command === "WRITE" || command === "UPSERT") return this.#write(command, name, query.values as readonly BoundValue[]);
    throw new Error(`the fake server does not know ${query.text}`);
  }

  #begin(explicit: boolean): FakeTransaction {
    this.#transaction = { before: this.state, explicit, failed: false, deferred: false, limits: new Map(), savepoints: [] };
    return this.#transaction;
  }

  #commit(reply: (count?: number, tag?: string) => QueryResult): QueryResult | SessionFailure {
    const transaction = this.#transaction;
    if (transaction === null) return reply();
    const refused = transaction.failed ? "ROLLBACK" : (this.judgeDeferred(this.state.rows) ?? this.judgeCommit(this.state.rows));
    if (refused !== null) {
      this.#roll();
      return refused === "ROLLBACK" ? reply(0, "ROLLBACK") : serverError(refused);
    }
    this.#transaction = null;
    this.commits += 1;
    return reply();
  }

  #claim(query: Query): QueryResult | SessionFailure {
    if (this.#transaction === null) this.#begin(false);
    const keys = textsOf(query.values[1] as Buffer);
    this.claims.push(keys);
    const code = this.judgeClaim(keys);
    if (code !== null) return serverError(code);
    const fresh = [...new Set(keys)].filter((key) => !this.state.records.has(key));
    this.state = { rows: this.state.rows, records: new Set([...this.state.records, ...fresh]) };
    return { command: "INSERT", count: fresh.length, rows: fresh.map((key) => [key]) };
  }

  #write(command: string, table: string, values: readonly BoundValue[]): QueryResult | SessionFailure {
    const transaction = this.#transaction ?? this.#begin(false);
    const rows = values.map((value) => JSON.parse(value as string) as FakeRow);
    const { deferred, limits } = transaction;
    const code = this.judge(rows, { table, deferred, stored: this.state.rows.filter((row) => row.table === table), limits });
    if (code !== null) return serverError(code, this.routine);
    if (command === "UPSERT" && new Set(rows.map(({ key }) => key)).size < rows.length) return serverError("21000");
    const keys = new Set(rows.map(({ key }) => key));
    const others = command === "UPSERT" ? this.state.rows.filter((row) => row.table !== table || !keys.has(row.key)) : this.state.rows;
    this.state = { rows: [...others, ...rows.map((row) => ({ ...row, table }))], records: this.state.records };
    return { command: "INSERT", count: this.touched(rows), rows: [] };
  }
}

function textsOf(array: Buffer): string[] {
  const texts: string[] = [];
  for (let offset = 20; offset < array.length; ) {
    const size = array.readInt32BE(offset);
    texts.push(array.toString("utf8", offset + 4, offset + 4 + size));
    offset += 4 + size;
  }
  return texts;
}

/** A form of the fake database. */
export function fakeForm(table: string, fields: Partial<Form> = {}): Form {
  const verb = fields.cutsAtRepeatedConflict === true ? "UPSERT" : "WRITE";
  return {
    operation: "insert",
    destination: table,
    table: `"${table}"`,
    maximumRows: 1000,
    cutsAtRepeatedConflict: false,
    onZeroRows: "ignore",
    query: (rows) => ({ text: `${verb} ${table}`, values: rows.flatMap(({ values }) => values), prepare: true }),
    ...fields,
  };
}

/** A write of one row of the fake database. */
export function fakeWrite(form: Form, id: string, fields: Partial<BuiltWrite> & { readonly key?: string } = {}): BuiltWrite {
  const { key = id, ...rest } = fields;
  return { form, values: [JSON.stringify({ id, key })], conflict: null, bytes: id.length, namesFromMessage: false, ...rest };
}

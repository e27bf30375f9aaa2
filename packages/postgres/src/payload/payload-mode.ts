import { type Envelope, isSinkError, type SinkError, type Telemetry } from "@sinks/core";
import type { Sessions } from "../connection/session.js";
import { toPostgresError } from "../errors.js";
import type { PostgresOptions } from "../options.js";
import { planPayloads } from "../plan/plan-payloads.js";
import type { PayloadBuilder } from "../render/build.js";
import type { BuiltWrite } from "../render/built-write.js";
import type { NamedStatements } from "../statement/named-statement.js";
import { statementFaults } from "../statement/statement-check.js";
import { type BuiltTypes, type Catalog, tellsOfTable } from "../table/catalog.js";
import { readTableFacts } from "../table/table-facts.js";
import type { TableFault } from "../table/table-fault.js";
import type { TableTypes } from "../value/column-type.js";
import type { BatchPlan, MessagePlan, Preview, PreviewRequest, WriteMode } from "../write-mode.js";
import { checkPayload, type PayloadSettings } from "./check-payload.js";
import { quoteTable } from "./identifier.js";
import type { PostgresPayload } from "./payload.js";
import type { PayloadSource, SourcedPayload } from "./payload-source.js";
import { refusedPayload } from "./refused-payload.js";
import { type RetrySafety, retrySafety } from "./retry-safety.js";
import { targetFaults } from "./target-check.js";
import type { TargetTable } from "./target-table.js";
import { writeTargets } from "./write-targets.js";

/** What makes writes of messages. */
export interface PayloadModeParts {
  readonly source: PayloadSource;
  readonly builder: PayloadBuilder;
  readonly settings: PayloadSettings;
  readonly catalog: Catalog;
  readonly statements: NamedStatements;
  readonly options: Pick<PostgresOptions, "write" | "verify_statements" | "retry_safety" | "ledger">;
}

interface Checked {
  readonly payload: PostgresPayload;
  readonly table: TargetTable | null;
  readonly namesFromMessage: boolean;
}

/** Writes the payloads that a write map or a handler makes of each message. */
export class PayloadMode implements WriteMode {
  readonly ownsTables = false;
  readonly #parts: PayloadModeParts;
  /** What a source made that is not asked again to answer for its batch. */
  readonly #made = new WeakMap<Envelope, readonly Checked[]>();

  constructor(parts: PayloadModeParts) {
    this.#parts = parts;
  }

  async start(sessions: Sessions, signal: AbortSignal, telemetry: Telemetry): Promise<void> {
    const { options, statements } = this.#parts;
    if (!options.verify_statements) return;
    for (const { message, remedy } of await statementFaults(statements, sessions, signal)) {
      telemetry.log("warn", "a named statement would be refused", { reason: message, remedy });
    }
  }

  /** A write map has no tables of its own. */
  async createTables(): Promise<void> {
    return undefined;
  }

  /**
   * The writes of each message in order. A message with a payload that cannot be built is rejected whole (WO-GEN-10). Column
   * types are read before the first write to a table; a table that is not there is told by the write itself.
   */
  async plan(messages: readonly Envelope[], sessions: Sessions, signal: AbortSignal): Promise<BatchPlan> {
    const { catalog } = this.#parts;
    const entries: (readonly Checked[] | SinkError)[] = [];
    const tables = new Set<string>();
    for (const message of messages) {
      const made = this.#payloads(message);
      const entry = made instanceof Promise ? await made : made;
      entries.push(entry);
      if (isSinkError(entry)) continue;
      for (const { table } of entry) if (table !== null) tables.add(table.text);
    }
    // One snapshot for the whole batch: the catalog may forget in between.
    const types = await this.#typesOf(tables, sessions, signal);
    const doubtful = new Map<string, TableTypes | null>();
    const build = (): BatchPlan => ({
      messages: entries.map((entry) => (isSinkError(entry) ? entry : this.#build(entry, types, doubtful))),
      types,
    });
    const plan = build();
    if (doubtful.size === 0) return plan;
    if (!(await sessions.use(signal, (session) => catalog.haveChanged(doubtful, (queries) => session.pipeline(queries))))) return plan;
    for (const [table, found] of await this.#typesOf(doubtful.keys(), sessions, signal)) types.set(table, found);
    return build();
  }

  async preview(messages: readonly Envelope[], request: PreviewRequest): Promise<Preview> {
    const { catalog, ...parts } = this.#parts;
    const types = (table: TargetTable) => catalog.known(table.text);
    const { payloads, ...found } = await planPayloads(messages, { ...parts, ...request, types });
    return { ...found, safety: this.#safety(payloads) };
  }

  retrySafety(messages: readonly Envelope[]): "safe" | "unsafe" {
    const payloads: PostgresPayload[] = [];
    for (const message of messages) {
      const made = this.#parts.source.compiled ? this.#payloads(message) : this.#made.get(message);
      // Without payloads nothing of it was sent.
      if (Array.isArray(made)) for (const { payload } of made as readonly Checked[]) payloads.push(payload);
    }
    return this.#safety(payloads).answer;
  }

  async faults(sessions: Sessions, signal: AbortSignal): Promise<readonly TableFault[]> {
    const faults: TableFault[] = [];
    for (const target of writeTargets(this.#parts.options.write ?? [])) {
      const facts = await sessions.use(signal, (session) => readTableFacts(session, quoteTable(target.table)));
      faults.push(...targetFaults(target, facts));
    }
    return [...faults, ...(await statementFaults(this.#parts.statements, sessions, signal))];
  }

  ddl(): readonly string[] {
    return [];
  }

  #safety(payloads: readonly PostgresPayload[]): RetrySafety {
    const { statements, options } = this.#parts;
    return retrySafety(payloads, { mode: options.retry_safety, ledger: options.ledger.enabled, statements });
  }

  /** The checked payloads of one message, or the error that rejects it (WO-GEN-09); a promise only where the source gives one. */
  #payloads(message: Envelope): readonly Checked[] | SinkError | Promise<readonly Checked[] | SinkError> {
    try {
      const sourced = this.#parts.source.payloads(message);
      if (!(sourced instanceof Promise)) return this.#check(message, sourced);
      return sourced.then((payloads) => this.#check(message, payloads)).catch(rejection);
    } catch (error) {
      return rejection(error);
    }
  }

  #check(message: Envelope, sourced: readonly SourcedPayload[]): readonly Checked[] {
    const { source, builder, settings } = this.#parts;
    const checked: Checked[] = [];
    for (const [index, { payload: given, rule }] of sourced.entries()) {
      try {
        const payload = source.compiled && !rule.namesFromMessage ? (given as PostgresPayload) : checkPayload(given, settings);
        checked.push({ payload, table: builder.table(payload), namesFromMessage: rule.namesFromMessage });
      } catch (error) {
        throw isSinkError(error) ? refusedPayload(error, index, sourced.length) : error;
      }
    }
    if (!source.compiled) this.#made.set(message, checked);
    return checked;
  }

  /** Adds to `doubtful` the table of a payload that is refused for its types alone: they may be those that it had before. */
  #build(payloads: readonly Checked[], types: BuiltTypes, doubtful: Map<string, TableTypes | null>): MessagePlan {
    const { builder } = this.#parts;
    const writes: BuiltWrite[] = [];
    for (const [index, { payload, table, namesFromMessage }] of payloads.entries()) {
      const known = table === null ? null : (types.get(table.text) ?? null);
      const built = builder.build(payload, known, namesFromMessage);
      if (isSinkError(built)) {
        if (table !== null && known !== null && !isSinkError(builder.build(payload, null))) doubtful.set(table.text, known);
        return refusedPayload(built, index, payloads.length);
      }
      writes.push(built);
    }
    return writes;
  }

  /**
   * The types of tables. One that cannot be looked up is written to without its types, so that the write tells what is wrong with
   * it; a reading that may pass is thrown, as without types a good message could be refused.
   */
  async #typesOf(tables: Iterable<string>, sessions: Sessions, signal: AbortSignal): Promise<Map<string, TableTypes | null>> {
    const { catalog } = this.#parts;
    const found = new Map<string, TableTypes | null>();
    for (const table of tables) found.set(table, catalog.known(table));
    const unknown = [...found].filter(([, types]) => types === null);
    if (unknown.length === 0) return found;
    await sessions.use(signal, async (session) => {
      for (const [table] of unknown) {
        const { types, failure } = await catalog.types(session, table);
        if (failure !== null && !tellsOfTable(failure)) throw toPostgresError(failure, table, false);
        found.set(table, types);
      }
    });
    return found;
  }
}

function rejection(error: unknown): SinkError {
  if (isSinkError(error)) return error;
  throw error;
}

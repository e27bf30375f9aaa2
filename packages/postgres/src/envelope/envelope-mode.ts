import {
  ConfigurationError,
  compileDestinationChoice,
  type Envelope,
  type InventoryReport,
  type InventoryRequest,
  isSinkError,
  ValidationError,
} from "@sinks/core";
import type { Sessions } from "../connection/session.js";
import { query } from "../connection/session-query.js";
import type { PostgresOptions } from "../options.js";
import { quoteTable } from "../payload/identifier.js";
import type { MessageEntries } from "../plan/plan.js";
import type { Inquiry, Recognition } from "../recognition.js";
import type { Form } from "../render/built-write.js";
import { readTableFacts, type TableFacts } from "../table/table-facts.js";
import type { TableFault } from "../table/table-fault.js";
import { textArray } from "../value/text-array.js";
import type { BatchPlan, MessagePlan, Preview, WriteMode } from "../write-mode.js";
import { envelopeTableFaults } from "./envelope-check.js";
import { envelopeForm, lookupStatement } from "./envelope-form.js";
import { takeEnvelopeInventory } from "./envelope-inventory.js";
import { EnvelopeRows } from "./envelope-row.js";
import { createEnvelopeTable, identityColumns } from "./envelope-table.js";

/** Options that decide where and how whole messages are stored. */
export type EnvelopeModeOptions = Pick<
  PostgresOptions,
  "table" | "table_by" | "auto_create" | "payload_type" | "payload_mode" | "include_metadata" | "on_duplicate" | "nul"
>;

/** Keys that one look-up asks for (WO-ENV-05). */
const lookupKeys = 1000;

/** The statement says itself what its values are. */
const noTypes: BatchPlan["types"] = new Map();

/**
 * Stores whole messages (WO-ENV): one table, or one for each allowed subject token. The statement names the table's own
 * primary key, so that a conflict with any other unique index is an error and never taken for a message that is there.
 */
export class EnvelopeMode implements WriteMode, Recognition {
  readonly ownsTables = true;
  readonly #options: EnvelopeModeOptions;
  readonly #rows: EnvelopeRows;
  /** The table for a subject, where a token chooses it. */
  readonly #choose: ReturnType<typeof compileDestinationChoice> | null;
  readonly #forms = new Map<string, Form>();

  constructor(options: EnvelopeModeOptions, nowNs: () => bigint) {
    this.#options = options;
    this.#choose = options.table_by === null ? null : compileDestinationChoice(options.table_by);
    this.#rows = new EnvelopeRows(options, nowNs);
  }

  /** As configured. */
  get tables(): readonly string[] {
    const { table, table_by: by } = this.#options;
    return by === null ? [table] : by.allow;
  }

  async start(sessions: Sessions, signal: AbortSignal): Promise<void> {
    if (this.#options.auto_create) await this.createTables(sessions, signal);
    for (const table of this.tables) {
      const facts = await this.#facts(table, sessions, signal);
      const [fault] = envelopeTableFaults(quoteTable(table), facts, this.#options);
      if (fault !== undefined) throw new ConfigurationError(`${fault.message}: ${fault.remedy}`, { code: "table_unsuitable" });
      this.#remember(table, (facts as TableFacts).primaryKey);
    }
  }

  /** Makes the tables that are missing. Two starts at once may both try: the one that comes second finds it there. */
  async createTables(sessions: Sessions, signal: AbortSignal): Promise<void> {
    for (const table of this.tables) {
      if ((await this.#facts(table, sessions, signal)) !== null) continue;
      await sessions
        .use(signal, (session) => query(session, table, createEnvelopeTable(quoteTable(table), this.#options)))
        .catch(async (error) => {
          if ((await this.#facts(table, sessions, signal)) === null) throw error;
        });
    }
  }

  async plan(messages: readonly Envelope[]): Promise<BatchPlan> {
    const plans = messages.map((message): MessagePlan => {
      try {
        const row = this.#rows.row(message, this.#formOf(message));
        return [this.#options.table_by === null ? row : { ...row, namesFromMessage: true }];
      } catch (error) {
        if (isSinkError(error)) return error;
        throw error;
      }
    });
    return { messages: plans, types: noTypes };
  }

  /** The table's own key may be longer than the one it is taken to have before a start. */
  async preview(messages: readonly Envelope[]): Promise<Preview> {
    const entries = messages.map((message): MessageEntries => {
      const table = this.#tableOf(message);
      try {
        if (table === null) throw this.#refused();
        const built = this.#rows.row(message, this.#forms.get(table) ?? this.#remember(table, identityColumns));
        return [{ destination: table, extras: { op: "envelope" }, built }];
      } catch (error) {
        if (isSinkError(error)) return error;
        throw error;
      }
    });
    return { entries, safety: { answer: "safe" }, notes: [] };
  }

  retrySafety(): "safe" {
    return "safe";
  }

  async faults(sessions: Sessions, signal: AbortSignal): Promise<readonly TableFault[]> {
    const faults: TableFault[] = [];
    for (const table of this.tables) {
      const facts = await this.#facts(table, sessions, signal);
      if (facts !== null || !this.#options.auto_create) faults.push(...envelopeTableFaults(quoteTable(table), facts, this.#options));
    }
    return faults;
  }

  ddl(): readonly string[] {
    return this.tables.map((table) => createEnvelopeTable(quoteTable(table), this.#options));
  }

  /** Which messages are there, one flag each in order. */
  async lookup(messages: readonly Envelope[], { sessions, signal }: Inquiry): Promise<readonly boolean[]> {
    const found = messages.map(() => false);
    const places = new Map<string, number[]>();
    for (const [index, message] of messages.entries()) {
      const table = this.#tableOf(message);
      if (table === null || message.stream === null || message.streamSequence === null) continue;
      const indexes = places.get(table);
      if (indexes === undefined) places.set(table, [index]);
      else indexes.push(index);
    }
    for (const [table, indexes] of places) {
      for (let from = 0; from < indexes.length; from += lookupKeys) {
        const asked = indexes.slice(from, from + lookupKeys);
        const keys = asked.map((index) => this.#rows.identity(messages[index] as Envelope));
        const values = identityColumns.map((_, part) => textArray(keys.map((key) => key[part] as string)));
        const { rows } = await sessions.use(signal, (session) => query(session, table, lookupStatement(quoteTable(table)), values));
        for (const [position] of rows) found[asked[Number(position) - 1] as number] = true;
      }
    }
    return found;
  }

  async inventory(request: InventoryRequest, report: InventoryReport, { sessions, signal }: Inquiry): Promise<void> {
    for (const table of this.tables) {
      if ((await this.#facts(table, sessions, signal)) === null) report.absent(`table ${quoteTable(table)} is not there`);
      else await takeEnvelopeInventory(quoteTable(table), sessions, request, report, signal);
    }
  }

  #tableOf(message: Envelope): string | null {
    return this.#choose === null ? this.#options.table : this.#choose(message.subject);
  }

  #formOf(message: Envelope): Form {
    const table = this.#tableOf(message);
    const form = table === null ? undefined : this.#forms.get(table);
    if (form !== undefined) return form;
    throw this.#refused();
  }

  #refused(): ValidationError {
    return new ValidationError(`subject token ${this.#options.table_by?.token} names no table of sink.table_by.allow`, {
      code: "destination_not_allowed",
    });
  }

  #remember(table: string, primaryKey: readonly string[]): Form {
    const form = this.#form(table, primaryKey);
    this.#forms.set(table, form);
    return form;
  }

  #facts(table: string, sessions: Sessions, signal: AbortSignal): Promise<TableFacts | null> {
    return sessions.use(signal, (session) => readTableFacts(session, quoteTable(table)));
  }

  #form(table: string, primaryKey: readonly string[]): Form {
    const { payload_type: payloadType, on_duplicate: onDuplicate } = this.#options;
    return envelopeForm({ destination: table, table: quoteTable(table), primaryKey, payloadType, onDuplicate });
  }
}

import {
  type Check,
  ConfigurationError,
  type ConnectorServices,
  type DdlAbility,
  DestinationUnavailableError,
  type EnsureSchemaAbility,
  type Envelope,
  type Handler,
  type HealthcheckAbility,
  type InventoryAbility,
  type InventoryReport,
  type InventoryRequest,
  isErrorKind,
  isSinkError,
  type LookupAbility,
  NotAttemptedError,
  type OrderedBatchesAbility,
  type PlanAbility,
  type PlanRequest,
  type PreflightAbility,
  type PreflightOccasion,
  type RetrySafetyAbility,
  type Sink,
  type SinkContext,
  type SinkError,
  type SinkPlan,
  type WriteContext,
  type WriteOutcome,
} from "@sinks/core";
import type { Pool } from "pg";
import { PostgresClient } from "./client.js";
import { query } from "./connection/session-query.js";
import { EnvelopeMode } from "./envelope/envelope-mode.js";
import { toPostgresError } from "./errors.js";
import { executeBatch } from "./execute/execute-batch.js";
import type { ExecutionPorts, ExecutionSettings } from "./execute/execution-settings.js";
import type { MessageWrites } from "./execute/segment.js";
import { ledgerRecognition } from "./ledger/ledger-recognition.js";
import { LedgerRetention } from "./ledger/ledger-retention.js";
import { ensureLedgerTable, ledgerStatements } from "./ledger/ledger-table.js";
import { handlerFault, type PostgresOptions } from "./options.js";
import { quoteTable } from "./payload/identifier.js";
import type { PostgresPayload } from "./payload/payload.js";
import { PayloadMode } from "./payload/payload-mode.js";
import { handlerSource, writeMapSource } from "./payload/payload-source.js";
import { describePlan } from "./plan/plan.js";
import { checkDestination, durabilityWarning } from "./preflight.js";
import type { Recognition } from "./recognition.js";
import { createPayloadBuilder } from "./render/build.js";
import { compileStatements } from "./statement/named-statement.js";
import { Catalog } from "./table/catalog.js";
import { machine, type PostgresWorld } from "./world.js";
import type { WriteMode } from "./write-mode.js";

/** What the PostgreSQL sink can do besides writing; it knows messages again where it stores them whole or keeps a ledger. */
export type PostgresSink = Sink &
  EnsureSchemaAbility &
  HealthcheckAbility &
  OrderedBatchesAbility &
  PlanAbility &
  PreflightAbility &
  RetrySafetyAbility &
  DdlAbility &
  Partial<InventoryAbility & LookupAbility> & {
    /** A pool for what a handler reads (WO-GEN-20); null before start and after stop. */
    readonly pool: Pool | null;
  };

/** What code may give besides the options. */
export interface PostgresSinkExtras {
  /** Makes the payloads of each message, in place of a write map (FW-MAP-08). */
  readonly handler?: Handler<PostgresPayload>;
}

/**
 * The PostgreSQL sink. States: created, running between `start` and `stop`, stopped; a start that fails leaves it created. It
 * stores whole messages when there is neither a write map nor a handler (FW-MAP-10).
 */
export function createPostgresSink(options: PostgresOptions, services: ConnectorServices, extras: PostgresSinkExtras = {}): PostgresSink {
  const parts = createParts(options, services, extras);
  return parts.recognition === null ? new PostgresSinkInstance(parts) : new RecognisingPostgresSink(parts, parts.recognition);
}

interface Parts {
  readonly options: PostgresOptions;
  readonly services: ConnectorServices;
  readonly world: PostgresWorld;
  readonly catalog: Catalog;
  readonly mode: WriteMode;
  readonly recognition: Recognition | null;
}

function createParts(options: PostgresOptions, services: ConnectorServices, { handler }: PostgresSinkExtras): Parts {
  const fault = handler === undefined ? null : handlerFault(options);
  if (fault !== null) throw new ConfigurationError(fault);
  const catalog = new Catalog();
  const base = { options, services, world: machine, catalog };
  const { write } = options;
  if (write === undefined && handler === undefined) {
    const mode = new EnvelopeMode(options, services.nowNs);
    return { ...base, mode, recognition: mode };
  }
  const statements = compileStatements(options.statements);
  const settings = { allowQuotedIdentifiers: options.allow_quoted_identifiers, undefinedData: options.undefined_data };
  const builder = createPayloadBuilder({ ...settings, nul: options.nul, onZeroRows: options.on_zero_rows, statements });
  const source = handler === undefined ? writeMapSource({ ...options, write: write ?? [] }) : handlerSource(handler);
  const mode = new PayloadMode({ source, builder, settings, catalog, statements, options });
  return { ...base, mode, recognition: options.ledger.enabled ? ledgerRecognition(quoteTable(options.ledger.table)) : null };
}

interface Running {
  readonly client: PostgresClient;
  readonly settings: ExecutionSettings;
  readonly ports: Omit<ExecutionPorts, "tablesChanged">;
  readonly retention: LedgerRetention | null;
}

class PostgresSinkInstance implements PostgresSink {
  readonly orderedBatches = true;
  protected readonly parts: Parts;
  #running: Running | null = null;
  #changesSeen = 0;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get pool(): Pool | null {
    return this.#running?.client.pool ?? null;
  }

  async start(context: SinkContext): Promise<void> {
    const { options, mode, world } = this.parts;
    const client = this.#makeClient(options);
    try {
      await client.start(context.signal);
      const { ledger: ledgerOptions } = options;
      const ledger = ledgerOptions.enabled
        ? { pipeline: ledgerOptions.name ?? context.pipeline, table: quoteTable(ledgerOptions.table) }
        : null;
      if (ledger !== null) {
        await client.use(context.signal, (session) => ensureLedgerTable(session, ledgerOptions.table, ledgerOptions.auto_create));
      }
      await mode.start(client, context.signal, context.telemetry);
      const warning = await durabilityWarning(client, context.signal);
      if (warning !== null) context.telemetry.log("warn", "commits may not be durable", { reason: warning });
      const retention =
        ledger === null
          ? null
          : new LedgerRetention({
              sessions: client,
              ledger,
              retentionSeconds: ledgerOptions.retention_seconds,
              limitMs: options.statement_timeout_ms,
              telemetry: context.telemetry,
              after: world.after,
            });
      retention?.start();
      const settings: ExecutionSettings = {
        transaction: options.transaction,
        afterFailure: options.after_failure,
        maximumChunkBytes: options.max_chunk_bytes,
        limits: { statementMs: options.statement_timeout_ms, lockMs: options.lock_timeout_ms },
        limitsPerTransaction: !options.prepared_statements,
        ledger,
        logDriverMessages: options.log_driver_messages,
      };
      this.#running = { client, settings, ports: { telemetry: context.telemetry, wait: world.wait, random: world.random }, retention };
    } catch (error) {
      await client.stop();
      throw error;
    }
  }

  async writeBatch(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]> {
    const { client, settings, ports } = this.#started();
    if (messages.length === 0) return [];
    const { mode, catalog } = this.parts;
    const { messages: plans, types } = await mode.plan(messages, client, context.signal);
    this.#dropOutdatedPlans(client);
    const work: MessageWrites[] = [];
    for (let index = 0; index < plans.length; index += 1) {
      const plan = plans[index] as (typeof plans)[number];
      const key = settings.ledger === null ? null : keyOf(messages[index] as Envelope);
      if (isSinkError(plan)) work.push({ index, writes: [], refused: plan, key: null });
      else if (isSinkError(key)) work.push({ index, writes: [], refused: key, key: null });
      else work.push({ index, writes: plan, refused: null, key });
    }
    const tablesChanged: ExecutionPorts["tablesChanged"] = (table, ask) =>
      catalog.haveChanged(table === null ? types : new Map([[table, types.get(table) ?? null]]), ask);
    const outcomes = await executeBatch(client, work, context, settings, { ...ports, tablesChanged });
    for (const { index, writes } of work) {
      const outcome = outcomes[index] ?? null;
      // A name that a message chose says nothing about the tables.
      if (outcome === null || writes.some(({ namesFromMessage }) => namesFromMessage)) continue;
      catalog.learn(outcome.destinationCode, new Set(writes.flatMap(({ form }) => form.table ?? [])));
    }
    const idle = work.filter(({ refused, writes, index }) => refused === null && writes.length === 0 && outcomes[index] === null).length;
    if (idle > 0) ports.telemetry.count("messages_without_write_total", idle);
    this.#dropOutdatedPlans(client);
    return outcomes;
  }

  /** A plan holds the types of its values. A new connection alone changes none. */
  #dropOutdatedPlans(client: PostgresClient): void {
    const { changes } = this.parts.catalog;
    if (changes === this.#changesSeen) return;
    this.#changesSeen = changes;
    client.forgetPlans();
  }

  retrySafety(messages: readonly Envelope[]): "safe" | "unsafe" {
    return this.parts.mode.retrySafety(messages);
  }

  async healthcheck(signal: AbortSignal): Promise<void> {
    const { client } = this.#started();
    const { rows } = await client.use(signal, (session) => query(session, "the database", "SHOW transaction_read_only"));
    if (rows[0]?.[0] === "on" && this.parts.options.target_session === "read_write") {
      throw new DestinationUnavailableError("the database takes no writes at present: it is read-only", { destinationCode: "25006" });
    }
  }

  /** Makes what is missing and may be made, whatever `auto_create` says. Needs no start. */
  async ensureSchema(signal: AbortSignal): Promise<void> {
    const { mode, options } = this.parts;
    await this.withClient(signal, async (client) => {
      await mode.createTables(client, signal);
      if (options.ledger.enabled) await client.use(signal, (session) => ensureLedgerTable(session, options.ledger.table, true));
    });
  }

  /** Needs no start and changes nothing. */
  preflight(signal: AbortSignal, occasion: PreflightOccasion = "inspection"): Promise<readonly Check[]> {
    const { mode, options } = this.parts;
    return this.withClient(signal, (client) => checkDestination(client, { mode, options, occasion }, signal));
  }

  ddl(): readonly string[] {
    const { mode, options } = this.parts;
    const statements = [...mode.ddl(), ...(options.ledger.enabled ? ledgerStatements(options.ledger.table) : [])];
    return statements.map((statement) => `${statement};`);
  }

  /** Needs no start and writes nothing (WO-OB-02). */
  async plan(messages: readonly Envelope[], { showValues, signal }: PlanRequest): Promise<SinkPlan> {
    const { mode, options } = this.parts;
    const readTypes = (tables: ReadonlySet<string>) => this.#typesFault(tables, signal);
    const { entries, safety, notes } = await mode.preview(messages, { showValues, readTypes });
    return describePlan(entries, { showValues, maximumChunkBytes: options.max_chunk_bytes, safety, ledger: options.ledger.enabled, notes });
  }

  /** Reads column types into the catalog; says why they could not be read, else null. */
  async #typesFault(tables: ReadonlySet<string>, signal: AbortSignal): Promise<string | null> {
    const { catalog } = this.parts;
    try {
      return await this.withClient(signal, (client) =>
        client.use(signal, async (session) => {
          for (const table of tables) {
            const { failure } = await catalog.types(session, table);
            if (failure !== null) throw toPostgresError(failure, table, false);
          }
          return null;
        }),
      );
    } catch (error) {
      if (!isSinkError(error) && !isErrorKind(error, "ConfigurationError")) throw error;
      return `the types of columns could not be read, so lists and objects are taken for JSON: ${error.message}`;
    }
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.retention?.stop();
    await running?.client.stop();
  }

  /** Does something on one connection of its own: the sink itself may be unstarted. */
  protected async withClient<Result>(signal: AbortSignal, work: (client: PostgresClient) => Promise<Result>): Promise<Result> {
    const client = this.#makeClient({ ...this.parts.options, connections: 1 });
    try {
      await client.start(signal);
      return await work(client);
    } finally {
      await client.stop();
    }
  }

  /** The connections and the name of the pipeline of a sink that runs. */
  protected started(): { readonly client: PostgresClient; readonly pipeline: string | null } {
    const { client, settings } = this.#started();
    return { client, pipeline: settings.ledger?.pipeline ?? null };
  }

  #started(): Running {
    if (this.#running === null) throw new NotAttemptedError("the PostgreSQL sink is not running");
    return this.#running;
  }

  #makeClient(options: PostgresOptions): PostgresClient {
    const { services, catalog } = this.parts;
    return new PostgresClient(options, { workingDirectory: services.workingDirectory, connected: () => catalog.doubtAll() });
  }
}

/** The key of a message in the ledger, or the error of that message alone when it has none (FW-ENV-08). */
function keyOf(message: Envelope): string | SinkError {
  try {
    return message.idempotencyKey();
  } catch (error) {
    if (isSinkError(error)) return error;
    throw error;
  }
}

class RecognisingPostgresSink extends PostgresSinkInstance implements LookupAbility, InventoryAbility {
  readonly #recognition: Recognition;

  constructor(parts: Parts, recognition: Recognition) {
    super(parts);
    this.#recognition = recognition;
  }

  async lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]> {
    const { client, pipeline } = this.started();
    return this.#recognition.lookup(messages, { sessions: client, pipeline, signal });
  }

  /** Needs no start and changes nothing. */
  inventory(request: InventoryRequest, report: InventoryReport, signal: AbortSignal): Promise<void> {
    const pipeline = this.parts.options.ledger.name ?? request.pipeline;
    return this.withClient(signal, (client) => this.#recognition.inventory(request, report, { sessions: client, pipeline, signal }));
  }
}

import { eventually, freePort, type NatsServer, type PostgresServer, postgresQuery } from "@sinks/testing/services";
import { type CliProcess, type CliResult, runCli, startCli } from "./cli-process.js";
import { type PipelineCase, pipelineCase } from "./pipeline-case.js";

/** A pipeline into a PostgreSQL database of its own; its configurations name the address by `DATABASE_URL`. */
export interface PostgresCase extends AsyncDisposable {
  readonly job: PipelineCase;
  /** Name of the database. */
  readonly database: string;
  /** Writes a configuration with a PostgreSQL sink, dead letters and leases of a second; sections are merged over it. */
  configure(sink: object, sections?: Readonly<Record<string, object>>): Promise<string>;
  /** Runs each text on a connection of its own as the administrator; gives the rows of the last. */
  sql(...texts: readonly string[]): Promise<readonly (readonly (string | null)[])[]>;
  /** Takes a lock that no connection holds; the answer lets it go. */
  lock(text: string): Promise<() => Promise<void>>;
  /** Ends the sink's sessions that are in such a state; gives how many there were. */
  terminate(condition?: string): Promise<number>;
  start(...commandLine: string[]): CliProcess;
  run(...commandLine: string[]): Promise<CliResult>;
  /** Waits until everything up to a sequence is settled. */
  settled(sequence: number): Promise<void>;
  deadLetters(): Promise<number>;
  /** Waits until health is red with a reason that matches. */
  red(reason: RegExp): Promise<void>;
}

/** What a case may change. */
export interface PostgresCaseOptions {
  /** Role and password of the sink in place of the server's own. */
  readonly login?: { readonly role: string; readonly password: string };
  /** Port through which the sink reaches the server. */
  readonly port?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Makes a case with a database and streams that no other case has. */
export async function postgresCase(nats: NatsServer, postgres: PostgresServer, options: PostgresCaseOptions = {}): Promise<PostgresCase> {
  const job = await pipelineCase(nats);
  const address = new URL(await postgres.createDatabase());
  const database = address.pathname.slice(1);
  const admin = new URL(postgres.superuserUrl);
  admin.pathname = address.pathname;
  if (options.login !== undefined) {
    address.username = options.login.role;
    address.password = options.login.password;
  }
  if (options.port !== undefined) address.port = String(options.port);
  const process = {
    workingDirectory: job.project.folder,
    environment: { DATABASE_URL: address.href, ...options.environment },
  };
  const port = await freePort();
  let locks = 0;
  const sql = async (...texts: readonly string[]) => {
    let rows: readonly (readonly (string | null)[])[] = [];
    for (const text of texts) rows = await postgresQuery(admin.href, text);
    return rows;
  };
  return {
    job,
    database,
    sql,
    configure: (sink, { delivery, ...sections } = {}) =>
      job.configure({
        sink: { type: "postgres", url_env: "DATABASE_URL", ...sink },
        consumer_management: { ack_wait_seconds: 1 },
        dead_letter: { enabled: true, subject: job.deadLetters.subject, max_ratio: 1 },
        metrics: { enabled: true, listen: `127.0.0.1:${port}` },
        delivery: { retry_backoff_ms: 50, retry_backoff_max_ms: 300, ...delivery },
        ...sections,
      }),
    async lock(text) {
      locks += 1;
      const name = `${database}-${locks}`;
      await sql(`BEGIN; ${text}; PREPARE TRANSACTION '${name}'`);
      return async () => void (await sql(`ROLLBACK PREPARED '${name}'`));
    },
    async terminate(condition = "true") {
      const sessions = `FROM pg_stat_activity WHERE application_name = 'sinks' AND datname = '${database}' AND (${condition})`;
      return (await sql(`SELECT pg_terminate_backend(pid) ${sessions}`)).length;
    },
    start: (...commandLine) => startCli(commandLine, process),
    run: (...commandLine) => runCli(commandLine, process),
    async settled(sequence) {
      const reached = async () => (await job.manager.consumers.info(job.stream, "sink")).ack_floor.stream_seq >= sequence;
      await eventually(reached, { deadlineMs: 60_000, what: `everything up to ${sequence} to be settled` });
    },
    deadLetters: async () => (await job.manager.streams.info(job.deadLetters.stream)).state.messages,
    async red(reason) {
      const isRed = async () => {
        const { reasons } = (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()) as { reasons: readonly string[] };
        if (!reasons.some((text) => reason.test(text))) throw new Error(`health says ${JSON.stringify(reasons)}`);
        return true;
      };
      await eventually(isRed, { deadlineMs: 30_000, what: `health to be red with ${reason}` });
    },
    [Symbol.asyncDispose]: () => job[Symbol.asyncDispose](),
  };
}

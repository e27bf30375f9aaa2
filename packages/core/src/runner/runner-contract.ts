import type { Configuration } from "../config/schema.js";
import type { Sink } from "../connector/sink.js";
import type { Telemetry } from "../telemetry/port.js";

/** What a program hands to `createRunner`. */
export interface RunnerOptions {
  /** A validated configuration, secrets still by name; `createRunner` validates it again and touches nothing. */
  readonly configuration: Configuration;
  /** Makes a fresh sink; called at start, and again after a refused login once secrets have been resolved anew. */
  readonly createSink: () => Sink;
  /** Name of the sink in logs and dead letters; by default `configuration.sink.type`. */
  readonly sinkName?: string;
  readonly telemetry?: Telemetry;
  /** Where secrets named by `*_env` keys are read; by default `process.env` of the program is passed by the caller. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Ends the run when everything up to the stream's last sequence at start is delivered and settled (FW-CLI-08). */
  readonly once?: boolean;
  /** With `once`: gives up after so many milliseconds. */
  readonly onceTimeoutMs?: number;
}

/** Totals of a run; every message is counted once per fact. */
export interface RunSummary {
  readonly received: number;
  readonly stored: number;
  readonly deadLettered: number;
  /** Dropped, because dead letters are off and `when_disabled` says so. */
  readonly discarded: number;
  readonly retried: number;
  /** Still held at the end. */
  readonly held: number;
  readonly seconds: number;
  /** False when a `once` run ended without reaching its goal, or the run ended with something wrong. */
  readonly complete: boolean;
  /** Why it is not complete, in one line; null when it is. */
  readonly reason: string | null;
}

/** A reading of the running pipeline, for progress lines and health. */
export interface RunnerStatus {
  readonly state: "created" | "starting" | "running" | "stopping" | "stopped";
  readonly healthy: boolean;
  /** Running, healthy, and the server has answered a pull (FW-OBS-03). */
  readonly ready: boolean;
  /** Reasons of a red health, stable words first (`window_full`, `held_limit`, `consumer_missing`, …). */
  readonly reasons: readonly string[];
  readonly received: number;
  readonly stored: number;
  readonly deadLettered: number;
  readonly retried: number;
  readonly held: number;
  readonly inFlight: number;
  readonly bytesInFlight: number;
  /** Messages of the consumer not yet delivered, as of the newest delivery; null before the first. */
  readonly lag: number | null;
  /** Messages the server holds delivered and not acknowledged, as of the last reading; null before the first. */
  readonly ackPending: number | null;
  /** Age of the oldest message that is not settled, in ms; 0 without one. */
  readonly oldestUnsettledMs: number;
}

/** Moves one stream into one sink. `start`, then `run`; `stop` at any time. */
export interface Runner {
  /**
   * Resolves secrets, connects, ensures the consumer, starts the sink and opens the source (FW-RUN-02). Rejects with
   * `ConfigurationError` (exit 2) or another `SinksError` (exit 1), after everything already started was stopped.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Runs until `signal` aborts, `stop` is called or the goal of `once` is reached; then drains and resolves. */
  run(signal?: AbortSignal): Promise<RunSummary>;
  /** Drains and stops; idempotent. */
  stop(): Promise<void>;
  /** Ends an operator pause after a repair (SIGHUP). */
  resume(): void;
  status(): RunnerStatus;
  [Symbol.asyncDispose](): Promise<void>;
}

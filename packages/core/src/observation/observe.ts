import { resolve } from "node:path";
import type { Configuration } from "../config/schema.js";
import type { RunnerStatus } from "../runner/runner-contract.js";
import { guardTelemetry } from "../telemetry/guarded.js";
import { measuredTelemetry } from "../telemetry/measured.js";
import { MetricStore } from "../telemetry/metric-store.js";
import type { Telemetry } from "../telemetry/port.js";
import { listenAddress, serveHealth } from "./health-server.js";
import type { PageSource } from "./pages.js";
import { StatusFile } from "./status-file.js";

/** What observation needs of a program. */
export interface ObservationOptions {
  /** The section `metrics` says what is kept and where it is offered. */
  readonly configuration: Configuration;
  /** Where events go, and what fails here. */
  readonly telemetry: Telemetry;
  /** Wall clock, ns since the Unix epoch. */
  readonly nowNs: () => bigint;
  /** Folder from which `metrics.snapshot_file` is looked at. */
  readonly directory: string;
}

/** Metrics and health of one pipeline. */
export interface Observation {
  /** The port to give to the runner: events go on to the program's own, counts and measurements are kept as well. */
  readonly telemetry: Telemetry;
  /** Begins to serve health and to write the status file, as far as they are configured. */
  offer(status: () => RunnerStatus): OfferedObservation;
}

/** What is offered to operators until it is disposed. */
export interface OfferedObservation extends AsyncDisposable {
  /** The port that is listened on; null while none is. */
  readonly port: number | null;
}

const statusIntervalMs = 1000;

/** Makes the metrics of a pipeline by its configuration; nothing is opened before `offer`. */
export function createObservation({ configuration, telemetry, nowNs, directory }: ObservationOptions): Observation {
  const { enabled, namespace, listen, snapshot_file: file } = configuration.metrics;
  const store = enabled ? new MetricStore(nowNs) : null;
  const guarded = guardTelemetry(store === null ? telemetry : measuredTelemetry(telemetry, store));
  return {
    telemetry: guarded,
    offer(status) {
      const source: PageSource = { namespace, store, status };
      const server = listen === null ? null : serveHealth(listenAddress(listen), source, guarded);
      const statusFile =
        file === null
          ? null
          : new StatusFile({ file: resolve(directory, file), source, telemetry: guarded, nowNs, intervalMs: statusIntervalMs });
      return {
        get port() {
          return server?.port ?? null;
        },
        async [Symbol.asyncDispose]() {
          await Promise.all([server?.[Symbol.asyncDispose](), statusFile?.[Symbol.asyncDispose]()]);
        },
      };
    },
  };
}

import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { metricsDocument } from "../telemetry/metric-document.js";
import type { Telemetry } from "../telemetry/port.js";
import type { PageSource } from "./pages.js";
import { statusReadings } from "./status-readings.js";

/** What writing a status file needs. */
export interface StatusFileOptions {
  /** An absolute path. */
  readonly file: string;
  readonly source: PageSource;
  readonly telemetry: Telemetry;
  readonly nowNs: () => bigint;
  readonly intervalMs: number;
}

/**
 * Writes health and metrics to a file on a timer, off the way of messages and atomically: a reader sees the old text or the
 * new one (FW-OBS-01). A write that fails is told once and tried at the next turn; disposing writes the last one.
 */
export class StatusFile implements AsyncDisposable {
  readonly #options: StatusFileOptions;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | null = null;
  #failed = false;

  constructor(options: StatusFileOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.write(), options.intervalMs);
    this.#timer.unref();
    void this.write();
  }

  /** Writes it now; while one write is under way, that one is awaited instead. */
  write(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
  }

  async #write(): Promise<void> {
    const { file, telemetry } = this.#options;
    const beside = `${file}.tmp`;
    try {
      await refuseSpecial(file);
      await makeFolder(dirname(file));
      await writeFile(beside, this.#text(), { mode: 0o600 });
      await rename(beside, file);
      this.#failed = false;
    } catch (error) {
      telemetry.count("observation_errors_total");
      if (!this.#failed) telemetry.log("warn", "the status file cannot be written; tried again", { code: codeOf(error) });
      this.#failed = true;
      await rm(beside, { force: true }).catch(() => undefined);
    }
  }

  #text(): string {
    const { source, nowNs } = this.#options;
    const status = source.status();
    const { state, ready, healthy, reasons } = status;
    return `${JSON.stringify({
      schema: "nats_sinks.metrics.snapshot.v1",
      namespace: source.namespace,
      generated_at_epoch_seconds: Number(nowNs() / 1_000_000n) / 1000,
      health: { state, ready, healthy, reasons },
      ...(source.store === null ? {} : metricsDocument(source.store, statusReadings(status, source.store.lastSuccessNs))),
    })}\n`;
  }
}

/** Each step is tried twice at most: the recursive form of Node never ends where a file system has no folders to give. */
async function makeFolder(folder: string): Promise<void> {
  const make = (): Promise<unknown> =>
    mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await make();
  }
}

/** A device, a pipe or a folder is never replaced by a file. */
async function refuseSpecial(file: string): Promise<void> {
  const there = await lstat(file).catch(() => null);
  if (there !== null && !there.isFile()) throw Object.assign(new Error("not a regular file"), { code: "EINVAL" });
}

function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : "unexpected";
}

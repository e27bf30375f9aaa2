import { randomBytes } from "node:crypto";
import path from "node:path";
import {
  type Check,
  type ConnectorServices,
  type Envelope,
  type HealthcheckAbility,
  type InventoryAbility,
  type InventoryReport,
  type InventoryRequest,
  isErrorKind,
  type LookupAbility,
  NotAttemptedError,
  type OrderedBatchesAbility,
  type PreflightAbility,
  type RetrySafetyAbility,
  type Sink,
  type SinkContext,
  type WriteContext,
  type WriteOutcome,
} from "@sinks/core";
import { type FileSystem, nodeFileSystem } from "./client.js";
import { toFileError } from "./errors.js";
import { fileExtension } from "./file-name.js";
import { takeInventory } from "./inventory.js";
import { MessageFiles } from "./message-files.js";
import type { FileOptions } from "./options.js";
import { FilePlacer } from "./place-file.js";
import { checkDirectory } from "./preflight.js";
import { probeLinks, probeNames, probeRoot } from "./probe.js";
import type { RecordWriter } from "./record-writer.js";
import { checkRoot, openRoot, type RootFolder } from "./root-folder.js";
import { Segments } from "./segments.js";
import { removeDeadTemporaries, TemporaryNames } from "./temporary-files.js";
import { type Processes, readProcesses } from "./writer-identity.js";

/** What the file sink can do besides writing. */
export type FileSink = Sink &
  HealthcheckAbility &
  InventoryAbility &
  LookupAbility &
  OrderedBatchesAbility &
  PreflightAbility &
  RetrySafetyAbility;

/** What the sink touches the world with; tests replace single parts. */
export interface FileSinkWorld {
  readonly files: FileSystem;
  readonly processes: () => Promise<Processes>;
  /** 8 hex digits that tell sinks of one process apart. */
  readonly instance: () => string;
  /** Runs something once after some time; the returned function gives that up. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

/** The machine itself. */
export const machine: FileSinkWorld = Object.freeze({
  files: nodeFileSystem,
  processes: readProcesses,
  instance: () => randomBytes(4).toString("hex"),
  after: (milliseconds: number, run: () => void) => {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
});

interface Running {
  readonly root: RootFolder;
  readonly placer: FilePlacer;
  readonly writer: RecordWriter;
}

/**
 * The file sink. States: created, running between `start` and `stop`, stopped; a start that fails leaves it created. A write
 * of unknown outcome may always be repeated: a message file is placed only where none is yet or in place of itself, and a
 * segment's records are read by key.
 */
export function createFileSink(options: FileOptions, services: ConnectorServices, world: FileSinkWorld = machine): FileSink {
  return new FileSinkInstance(options, services, world);
}

class FileSinkInstance implements FileSink {
  readonly orderedBatches = true;
  readonly #options: FileOptions;
  readonly #services: ConnectorServices;
  readonly #world: FileSinkWorld;
  #running: Running | null = null;

  constructor(options: FileOptions, services: ConnectorServices, world: FileSinkWorld) {
    this.#options = options;
    this.#services = services;
    this.#world = world;
  }

  get #directory(): string {
    return path.resolve(this.#services.workingDirectory, this.#options.directory);
  }

  async start(context: SinkContext): Promise<void> {
    const { create_directory: create, fsync: flush, mode } = this.#options;
    const { files } = this.#world;
    const processes = await this.#world.processes();
    const root = await openRoot(files, this.#directory, { create, flush });
    const placer = new FilePlacer(files, new TemporaryNames(processes.self, this.#world.instance()), flush);
    try {
      const nowMs = Number(this.#services.nowNs() / 1_000_000n);
      const removed = await removeDeadTemporaries(files, processes, root.path, nowMs, context.signal);
      if (removed > 0) context.telemetry.log("info", "temporary files removed", { count: removed });
      await probeRoot(files, placer, root);
      await probeNames(files, root, fileExtension(this.#options));
      if (mode === "one_file_per_message") await probeLinks(files, placer, root);
      const writer = this.#makeWriter(mode, placer, processes, root.path, context);
      await writer.start(context.signal);
      this.#running = { root, placer, writer };
    } catch (error) {
      context.signal.throwIfAborted();
      throw isErrorKind(error, "ConfigurationError") ? error : toFileError(error, "root");
    }
  }

  #makeWriter(mode: FileOptions["mode"], placer: FilePlacer, processes: Processes, root: string, context: SinkContext): RecordWriter {
    const { files, after } = this.#world;
    const options = this.#options;
    const { nowNs } = this.#services;
    if (mode === "one_file_per_message") return new MessageFiles({ files, placer, root, options, nowNs });
    return new Segments({ files, placer, processes, root, options, telemetry: context.telemetry, nowNs, after });
  }

  async writeBatch(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]> {
    const { root, writer } = this.#started();
    if (messages.length === 0) return [];
    await checkRoot(this.#world.files, root);
    return writer.write(messages, context);
  }

  async healthcheck(signal: AbortSignal): Promise<void> {
    const { root, placer } = this.#started();
    signal.throwIfAborted();
    await probeRoot(this.#world.files, placer, root);
  }

  async lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]> {
    const { root, writer } = this.#started();
    await checkRoot(this.#world.files, root);
    return writer.lookup(messages, signal);
  }

  /** Needs no start and changes nothing. */
  async preflight(signal: AbortSignal): Promise<readonly Check[]> {
    const nowMs = Number(this.#services.nowNs() / 1_000_000n);
    const processes = await this.#world.processes();
    return checkDirectory({ files: this.#world.files, processes, directory: this.#directory, options: this.#options, nowMs }, signal);
  }

  /** Needs no start and changes nothing. */
  inventory(request: InventoryRequest, report: InventoryReport, signal: AbortSignal): Promise<void> {
    return takeInventory({ files: this.#world.files, directory: this.#directory, options: this.#options }, request, report, signal);
  }

  retrySafety(): "safe" {
    return "safe";
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.writer.stop();
  }

  #started(): Running {
    if (this.#running === null) throw new NotAttemptedError("the file sink is not running");
    return this.#running;
  }
}

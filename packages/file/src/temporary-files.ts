import path from "node:path";
import { errnoOf, type FileSystem } from "./client.js";
import { isGone, type Processes, type WriterIdentity, writerOfGroups, writerToken, writerTokenPattern } from "./writer-identity.js";

const temporaryName = new RegExp(`^\\.sinks-${writerTokenPattern}-[0-9a-f]{8}-[0-9]+\\.tmp$`);
/** A temporary lives for seconds; one of another machine is surely left over after an hour. */
const foreignLimitMs = 3_600_000;

/** A folder that is not ours to read, such as `lost+found`, or that was removed meanwhile, holds no temporary of ours. */
const passedOver: ReadonlySet<string | null> = new Set(["EACCES", "EPERM", "ENOENT"]);

/** Makes the names of one sink's temporaries; `instance`, 8 hex digits, tells sinks of one process apart. */
export class TemporaryNames {
  readonly #start: string;
  #count = 0;

  constructor(writer: WriterIdentity, instance: string) {
    this.#start = `.sinks-${writerToken(writer)}-${instance}-`;
  }

  next(): string {
    this.#count += 1;
    return `${this.#start}${this.#count}.tmp`;
  }
}

/** True for the name of a temporary. */
export function isTemporaryName(name: string): boolean {
  return temporaryName.test(name);
}

/**
 * Removes the temporaries of dead processes in `root` and in the folders right below it, where message files go (FW-FILE-01),
 * and tells how many. Links are not followed, folders that may not be read are passed over. A process that still runs keeps
 * its own.
 */
export async function removeDeadTemporaries(
  files: FileSystem,
  processes: Processes,
  root: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  const folders: string[] = [];
  let removed = 0;
  const clean = async (folder: string) => {
    signal.throwIfAborted();
    for await (const entry of files.list(folder)) {
      if (entry.isFile()) removed += await removeWhenDead(files, processes, path.join(folder, entry.name), entry.name, nowMs);
      else if (entry.isDirectory() && folder === root) folders.push(path.join(folder, entry.name));
    }
  };
  await clean(root);
  for (const folder of folders) {
    await clean(folder).catch((error: unknown) => {
      if (!passedOver.has(errnoOf(error))) throw error;
    });
  }
  return removed;
}

async function removeWhenDead(files: FileSystem, processes: Processes, file: string, name: string, nowMs: number): Promise<number> {
  const found = temporaryName.exec(name);
  if (found === null) return 0;
  try {
    const { mtimeMs } = await files.linkFacts(file);
    if (!(await isGone(writerOfGroups(found.slice(1)), processes, nowMs - Number(mtimeMs), foreignLimitMs))) return 0;
    await files.unlink(file);
    return 1;
  } catch (error) {
    // Another process that starts at the same time may have removed it.
    if (errnoOf(error) === "ENOENT") return 0;
    throw error;
  }
}

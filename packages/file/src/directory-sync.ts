import { type FileSystem, folderFlags, withFile } from "./client.js";
import { inParallel } from "./in-parallel.js";

/** Flushes the entries of a folder to the disk. */
export async function syncFolder(files: FileSystem, folder: string): Promise<void> {
  await withFile(files, folder, folderFlags, (descriptor) => files.sync(descriptor));
}

/**
 * Group flush (FW-FILE-02): each touched folder is flushed once for a whole batch. Gives the error of every folder that
 * could not be flushed.
 */
export async function syncFolders(
  files: FileSystem,
  folders: Iterable<string>,
  concurrency: number,
): Promise<ReadonlyMap<string, unknown>> {
  const failures = new Map<string, unknown>();
  const list = [...folders];
  await inParallel(list.length, concurrency, async (index) => {
    const folder = list[index] as string;
    await syncFolder(files, folder).catch((error: unknown) => failures.set(folder, error));
  });
  return failures;
}

import path from "node:path";
import { ConfigurationError, DestinationUnavailableError } from "@sinks/core";
import { errnoOf, type FileSystem } from "./client.js";
import { syncFolder } from "./directory-sync.js";
import { toFileError } from "./errors.js";

/** The folder no path leaves, its links resolved once at start. */
export interface RootFolder {
  readonly path: string;
  /** True when something is mounted here; then a root without a mount is not the same place any more. */
  readonly mounted: boolean;
}

/** Finds the root, or makes it with its parents; what is made is flushed, up to the folder that was there (FW-FILE-03). */
export async function openRoot(
  files: FileSystem,
  directory: string,
  options: { readonly create: boolean; readonly flush: boolean },
): Promise<RootFolder> {
  try {
    const root = await files.realPath(directory).catch(async (error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
      if (!options.create) throw new ConfigurationError("sink.directory: the folder is not there; make it, or set create_directory");
      await makeWithParents(files, directory, options.flush);
      return files.realPath(directory);
    });
    if (!(await files.linkFacts(root)).isDirectory()) throw notAFolder();
    return { path: root, mounted: await isMounted(files, root) };
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const errno = errnoOf(error);
    if (errno === "ENOTDIR" || errno === "EEXIST") throw notAFolder();
    throw toFileError(error, "root");
  }
}

function notAFolder(): ConfigurationError {
  return new ConfigurationError("sink.directory: the path, or a part of it, is not a folder; name another one");
}

async function makeWithParents(files: FileSystem, directory: string, flush: boolean): Promise<void> {
  const missing: string[] = [];
  let place = directory;
  while (!(await isThere(files, place))) {
    missing.push(place);
    place = path.dirname(place);
  }
  for (const folder of missing.reverse()) {
    await files.makeFolder(folder).catch((error: unknown) => {
      // Another process that starts at the same time may have been first.
      if (errnoOf(error) !== "EEXIST") throw error;
    });
    if (flush) await syncFolder(files, await files.realPath(path.dirname(folder)));
  }
}

async function isThere(files: FileSystem, place: string): Promise<boolean> {
  try {
    await files.realPath(place);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return path.dirname(place) === place;
  }
}

async function isMounted(files: FileSystem, root: string): Promise<boolean> {
  const parent = path.dirname(root);
  if (parent === root) return false;
  return (await files.linkFacts(root)).dev !== (await files.linkFacts(parent)).dev;
}

/** Throws when the root is gone, or its mount is: writing on would fill the folder that lies underneath. */
export async function checkRoot(files: FileSystem, root: RootFolder): Promise<void> {
  let isFolder: boolean;
  let mounted: boolean;
  try {
    isFolder = (await files.linkFacts(root.path)).isDirectory();
    mounted = !root.mounted || (await isMounted(files, root.path));
  } catch (error) {
    throw toFileError(error, "root");
  }
  if (!isFolder) throw new DestinationUnavailableError("sink.directory: it is no folder any more; restore it");
  if (!mounted) throw new DestinationUnavailableError("sink.directory: nothing is mounted there any more; mount it again");
}

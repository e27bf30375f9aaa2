import path from "node:path";
import { ConfigurationError } from "@sinks/core";
import { errnoOf, type FileSystem } from "./client.js";
import { toFileError } from "./errors.js";
import type { FilePlacer } from "./place-file.js";
import { checkRoot, type RootFolder } from "./root-folder.js";

/** Enough to notice a full disk that has a few free bytes left. */
const probeBytes = 65_536;

/** Proves that the root takes a file now: writes one, flushes it and removes it. Throws the `SinkError` that says why not. */
export async function probeRoot(files: FileSystem, placer: FilePlacer, root: RootFolder): Promise<void> {
  await checkRoot(files, root);
  try {
    await placer.discard(await placer.prepare(root.path, Buffer.alloc(probeBytes, 0x20)));
  } catch (error) {
    throw toFileError(error, "root");
  }
}

const noHardLinks: ReadonlySet<string | null> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Proves that the file system can make hard links. Without them there is no way to place a complete file only where none is
 * yet, so it is refused at start, before any message depends on it.
 */
export async function probeLinks(files: FileSystem, placer: FilePlacer, root: RootFolder): Promise<void> {
  try {
    const temporary = await placer.prepare(root.path, Buffer.alloc(0));
    const linked = placer.temporaryIn(root.path);
    try {
      await files.link(temporary, linked);
      await placer.discard(linked);
    } finally {
      await placer.discard(temporary);
    }
  } catch (error) {
    if (!noHardLinks.has(errnoOf(error))) throw toFileError(error, "root");
    throw new ConfigurationError(
      "sink.directory: this file system has no hard links, which mode one_file_per_message needs; use another directory or mode: segments",
      { cause: error },
    );
  }
}

/** Length of the longest folder and file name, without extension, that the sink ever makes (see `file-name.ts`). */
const longestFolder = 105;
const longestName = 150;

/**
 * Proves that every name the sink can make fits below the root. A directory that is too deep, or a file system with short
 * names, is refused at start: otherwise each message would be rejected for a path it cannot change.
 */
export async function probeNames(files: FileSystem, root: RootFolder, extension: string): Promise<void> {
  const name = `${"n".repeat(longestName)}${extension}`;
  for (const place of [name, path.join("f".repeat(longestFolder), name)]) {
    try {
      await files.linkFacts(path.join(root.path, place));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") continue;
      if (errnoOf(error) !== "ENAMETOOLONG") throw toFileError(error, "root");
      throw new ConfigurationError("sink.directory: its path is too long for the names of message files; use a shorter one", {
        cause: error,
      });
    }
  }
}

import { rmSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processState } from "./process-state.js";

/** A folder of this process, mode 0700, removed on dispose and when the process exits. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Makes an own folder under the system's temporary folder. Its name carries the owner's process id, so that folders of
 * owners that were killed are found and removed by the next call with the same `purpose`.
 */
export async function makeTemporaryFolder(purpose: string): Promise<TemporaryFolder> {
  await removeOrphans(purpose);
  const path = await mkdtemp(join(tmpdir(), `sinks-${purpose}-${process.pid}-`));
  const removeAtExit = () => rmSync(path, { recursive: true, force: true });
  process.once("exit", removeAtExit);
  return {
    path,
    async [Symbol.asyncDispose]() {
      process.off("exit", removeAtExit);
      await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    },
  };
}

/** Names folders that owners with the same `purpose` left behind when they were killed. */
export async function orphanedFolders(purpose: string): Promise<string[]> {
  const pattern = new RegExp(`^sinks-${purpose}-(\\d+)-[^-]+$`);
  const names = await readdir(tmpdir());
  return names
    .filter((name) => {
      const owner = pattern.exec(name)?.[1];
      return owner !== undefined && processState(Number(owner)) === "gone";
    })
    .map((name) => join(tmpdir(), name));
}

async function removeOrphans(purpose: string): Promise<void> {
  // A folder of another account stays: it is not ours to judge.
  await Promise.all((await orphanedFolders(purpose)).map((folder) => rm(folder, { recursive: true, force: true }).catch(() => undefined)));
}

import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "./run-command.js";

/** Finds a command on PATH, then in `folders`; answers real paths, since PATH may hold links. */
export async function findBinaries(command: string, folders: readonly string[], environment: Environment): Promise<string[]> {
  const onPath = (environment["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  const found = new Set<string>();
  for (const folder of [...onPath, ...folders]) {
    const file = await executable(join(folder, command));
    if (file !== null) found.add(file);
  }
  return [...found];
}

/** The real path of an executable file, or null. */
export async function executable(file: string): Promise<string | null> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile() ? await realpath(file) : null;
  } catch {
    return null;
  }
}

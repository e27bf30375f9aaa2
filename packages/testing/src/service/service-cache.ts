import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "./run-command.js";

/** Folder in which fetched servers and their prepared data are kept between runs. */
function serviceCache(environment: Environment): string {
  const configured = environment["XDG_CACHE_HOME"];
  const base = configured !== undefined && isAbsolute(configured) ? configured : join(environment["HOME"] ?? homedir(), ".cache");
  return join(base, "sinks-services");
}

/** One folder of the cache: where it is once it is complete, and how it becomes so. */
export interface CachedFolder {
  readonly path: string;
  /**
   * Fills it with the folder that `fill` answers, which must stand below the one given to it. It gets its name when
   * complete, so that two runs may fill it at once; `isComplete` tells whether another run was faster.
   */
  complete(fill: (incoming: string) => Promise<string>, isComplete: () => Promise<boolean>): Promise<void>;
}

/** The folder of a name in the cache. */
export function cachedFolder(name: string, environment: Environment): CachedFolder {
  const cache = serviceCache(environment);
  const path = join(cache, name.replaceAll("/", "-"));
  return {
    path,
    async complete(fill, isComplete) {
      await mkdir(cache, { recursive: true });
      const incoming = await mkdtemp(join(cache, ".incoming-"));
      try {
        await rename(await fill(incoming), path).catch(async (error: NodeJS.ErrnoException) => {
          if (!(await isComplete())) throw error;
        });
      } finally {
        await rm(incoming, { recursive: true, force: true });
      }
    },
  };
}

import { mkdtemp, rm, rmdir, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../service/run-command.js";
import { orphanedFolders } from "../service/temporary-folder.js";

/** A file system of its own that is soon full. */
export interface SmallMount extends AsyncDisposable {
  readonly folder: string;
  /** Takes all space that is left, so that the next write fails with ENOSPC. */
  fill(): Promise<void>;
  /** Gives the space back that `fill` took. */
  free(): Promise<void>;
  /** Makes every write fail with EROFS, or lets writes through again. */
  readOnly(on: boolean): Promise<void>;
}

/** A mount, or why there can be none here. */
export type SmallMountResult = { readonly mount: SmallMount; readonly reason: null } | { readonly mount: null; readonly reason: string };

const purpose = "small-mount";
const timeoutMs = 10_000;

/** Mounts a small file system in memory. Needs Linux and the right to mount; where that lacks, the answer says so. */
export async function mountSmall(sizeBytes: number): Promise<SmallMountResult> {
  if (process.platform !== "linux") return { mount: null, reason: "a small file system needs Linux" };
  await removeOrphans();
  const folder = await mkdtemp(join(tmpdir(), `sinks-${purpose}-${process.pid}-`));
  const mounted = await runCommand("mount", ["-t", "tmpfs", "-o", `size=${sizeBytes},mode=0700`, "tmpfs", folder], { timeoutMs });
  if (!mounted.succeeded) {
    await rmdir(folder);
    return { mount: null, reason: `no right to mount a small file system: ${mounted.reason}` };
  }
  const balloon = join(folder, ".balloon");
  const mount: SmallMount = {
    folder,
    async fill() {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(balloon, Buffer.alloc(bavail * bsize), { flag: "a" });
    },
    free: () => rm(balloon, { force: true }),
    async readOnly(on) {
      const done = await runCommand("mount", ["-o", `remount,${on ? "ro" : "rw"}`, folder], { timeoutMs });
      if (!done.succeeded) throw new Error(done.reason);
    },
    [Symbol.asyncDispose]: () => unmount(folder),
  };
  return { mount, reason: null };
}

async function removeOrphans(): Promise<void> {
  await Promise.all((await orphanedFolders(purpose)).map((folder) => unmount(folder).catch(() => undefined)));
}

async function unmount(folder: string): Promise<void> {
  // Lazily, so that a file somebody still holds open does not keep the mount.
  const done = await runCommand("umount", ["--lazy", folder], { timeoutMs });
  if (!done.succeeded && !/not mounted|no mount point/.test(done.reason)) throw new Error(done.reason);
  await rm(folder, { recursive: true, force: true });
}

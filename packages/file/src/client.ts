import fs, { type BigIntStats, type BigIntStatsFs, type Dirent } from "node:fs";
import { access, opendir, statfs } from "node:fs/promises";

/**
 * The part of the file system that the sink uses; tests put faults between. Every call may reject with an errno error. None
 * blocks the event loop, so a disk that hangs stops neither heartbeats nor the shutdown.
 */
export interface FileSystem {
  open(path: string, flags: number, mode?: number): Promise<number>;
  close(descriptor: number): Promise<void>;
  /** Writes at most `length` bytes and tells how many were written. */
  write(descriptor: number, bytes: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** Reads at most `length` bytes into `bytes` from its start and tells how many were read. */
  read(descriptor: number, bytes: Uint8Array, length: number, position: number): Promise<number>;
  sync(descriptor: number): Promise<void>;
  /** Flushes the bytes and the size of a file. */
  syncData(descriptor: number): Promise<void>;
  truncate(descriptor: number, length: number): Promise<void>;
  /** Facts of an open file. */
  facts(descriptor: number): Promise<BigIntStats>;
  /** Facts of a path; a symbolic link is not followed. */
  linkFacts(path: string): Promise<BigIntStats>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Entries of a folder in no order, read as they are asked for: a folder may hold millions. */
  list(path: string): AsyncIterable<Dirent>;
  realPath(path: string): Promise<string>;
  /** Rejects when this process may not make entries in the folder. */
  mayWrite(folder: string): Promise<void>;
  /** Room of the file system that a folder is on. */
  room(folder: string): Promise<BigIntStatsFs>;
}

function settle<Value>(resolve: (value: Value) => void, reject: (error: unknown) => void) {
  return (error: unknown, value?: Value) => (error ? reject(error) : resolve(value as Value));
}

/** The file system of the machine. */
export const nodeFileSystem: FileSystem = Object.freeze<FileSystem>({
  open: (path, flags, mode = 0o666) => new Promise((resolve, reject) => fs.open(path, flags, mode, settle(resolve, reject))),
  close: (descriptor) => new Promise((resolve, reject) => fs.close(descriptor, settle(resolve, reject))),
  write: (descriptor, bytes, offset, length, position) =>
    new Promise((resolve, reject) => fs.write(descriptor, bytes, offset, length, position, settle(resolve, reject))),
  read: (descriptor, bytes, length, position) =>
    new Promise((resolve, reject) => fs.read(descriptor, bytes, 0, length, position, settle(resolve, reject))),
  sync: (descriptor) => new Promise((resolve, reject) => fs.fsync(descriptor, settle(resolve, reject))),
  syncData: (descriptor) => new Promise((resolve, reject) => fs.fdatasync(descriptor, settle(resolve, reject))),
  truncate: (descriptor, length) => new Promise((resolve, reject) => fs.ftruncate(descriptor, length, settle(resolve, reject))),
  facts: (descriptor) => new Promise((resolve, reject) => fs.fstat(descriptor, { bigint: true }, settle(resolve, reject))),
  linkFacts: (path) => new Promise((resolve, reject) => fs.lstat(path, { bigint: true }, settle(resolve, reject))),
  link: (from, to) => new Promise((resolve, reject) => fs.link(from, to, settle(resolve, reject))),
  rename: (from, to) => new Promise((resolve, reject) => fs.rename(from, to, settle(resolve, reject))),
  unlink: (path) => new Promise((resolve, reject) => fs.unlink(path, settle(resolve, reject))),
  makeFolder: (path) => new Promise((resolve, reject) => fs.mkdir(path, 0o777, settle(resolve, reject))),
  list: async function* (path) {
    yield* await opendir(path, { bufferSize: 1024 });
  },
  realPath: (path) => new Promise((resolve, reject) => fs.realpath(path, settle(resolve, reject))),
  mayWrite: (folder) => access(folder, fs.constants.W_OK | fs.constants.X_OK),
  room: (folder) => statfs(folder, { bigint: true }),
});

/** Flags of a file that must not be there yet; a symbolic link at its place is not followed. */
export const createFlags = fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_WRONLY | (fs.constants.O_NOFOLLOW ?? 0);

/** Flags of a file to be read; a symbolic link at its place is not followed, a pipe at its place does not block. */
export const readFlags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** Flags of a file to be cut; a symbolic link at its place is not followed. */
export const changeFlags = fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** Flags of a folder to be flushed; a symbolic link at its place is not followed. */
export const folderFlags = fs.constants.O_RDONLY | (fs.constants.O_DIRECTORY ?? 0) | (fs.constants.O_NOFOLLOW ?? 0);

/** Writes all bytes, however few a call takes at once. */
export async function writeFully(files: FileSystem, descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await files.write(descriptor, bytes, written, bytes.length - written, position + written);
    if (count <= 0) throw Object.assign(new Error("a write took no bytes"), { code: "EIO", syscall: "write" });
    written += count;
  }
}

/** Reads from `position` until `length` bytes are there or the file ends. */
export async function readFully(files: FileSystem, descriptor: number, length: number, position: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = await files.read(descriptor, bytes.subarray(filled), length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** Runs `use` on an open file and closes it whatever happens; a failing close never masks the first error. */
export async function withFile<Value>(
  files: FileSystem,
  path: string,
  flags: number,
  use: (descriptor: number) => Promise<Value>,
): Promise<Value> {
  const descriptor = await files.open(path, flags);
  try {
    return await use(descriptor);
  } finally {
    await files.close(descriptor).catch(() => undefined);
  }
}

/** The errno word of a file system error, null for anything else. */
export function errnoOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : null;
}

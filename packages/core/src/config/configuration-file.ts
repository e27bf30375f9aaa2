import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { decodeConfiguration, maximumConfigurationBytes } from "./configuration-text.js";
import { fault, faultsError } from "./faults.js";

const reasons: Readonly<Record<string, readonly [string, string]>> = {
  ENOENT: ["no such file", "check the path"],
  ENOTDIR: ["no such file", "check the path"],
  EACCES: ["may not be read", "give this user the right to read it"],
  EPERM: ["may not be read", "give this user the right to read it"],
  ELOOP: ["too many symbolic links", "check the path"],
  ENAMETOOLONG: ["the name is too long", "check the path"],
};

async function openFile(file: string): Promise<FileHandle> {
  try {
    // Non-blocking, so that opening a named pipe without a writer returns instead of waiting for ever.
    return await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const [message, remedy] = reasons[(cause as NodeJS.ErrnoException).code ?? ""] ?? ["cannot be opened", "check the path"];
    throw faultsError([fault(file, message, remedy)]);
  }
}

async function readBounded(file: string): Promise<Uint8Array> {
  await using handle = await openFile(file);
  const status = await handle.stat();
  if (!status.isFile()) throw faultsError([fault(file, "not a regular file", "name a file that holds the configuration")]);
  if (status.size > maximumConfigurationBytes) throw faultsError([fault(file, "larger than 1 MiB", "keep the configuration small")]);
  const bytes = new Uint8Array(maximumConfigurationBytes + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    length += bytesRead;
    if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length);
  }
}

/** Reads the text of a configuration file; every way in which that can fail is a `ConfigurationError` naming the file. */
export async function readConfigurationFile(file: string): Promise<string> {
  return decodeConfiguration(await readBounded(file), file);
}

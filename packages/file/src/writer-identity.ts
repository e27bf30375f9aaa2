import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** Who writes: enough to tell later, from the same machine or another, whether that process still runs. */
export interface WriterIdentity {
  /** Short digest of the host's name. */
  readonly host: string;
  /** Short digest of this boot of the machine. */
  readonly boot: string;
  /** Short digest of the space in which `process` is a number: containers of one machine have their own. */
  readonly space: string;
  readonly process: number;
  /** When the process began, in units of the machine since its boot; a later process of the same number differs. */
  readonly started: string;
}

/** What is known about the processes of this machine. */
export interface Processes {
  readonly self: WriterIdentity;
  /** `started` of a running process of our own space, null when there is none. */
  startedOf(process: number): Promise<string | null>;
}

/**
 * Tells whether the writer is surely gone. In our own process space that is read from the process table. Elsewhere nothing can
 * be asked, so only time decides: `ageMs` beyond `limitMs`. A host of our name that booted at another time may be another one.
 */
export async function isGone(writer: WriterIdentity, processes: Processes, ageMs: number, limitMs: number): Promise<boolean> {
  const { self } = processes;
  if (writer.host === self.host && writer.boot === self.boot && writer.space === self.space) {
    return (await processes.startedOf(writer.process)) !== writer.started;
  }
  return ageMs > limitMs;
}

/** The identity as one word for file names. */
export function writerToken(writer: WriterIdentity): string {
  return `${writer.host}-${writer.boot}-${writer.space}-${writer.process}-${writer.started}`;
}

/** Pattern of `writerToken`, for longer patterns. */
export const writerTokenPattern = "([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]{8})-([0-9]{1,10})-([0-9]{1,20})";

/** Reads back what `writerToken` wrote, from the groups of `writerTokenPattern`. */
export function writerOfGroups(groups: readonly (string | undefined)[]): WriterIdentity {
  const [host = "", boot = "", space = "", process = "0", started = "0"] = groups;
  return { host, boot, space, process: Number(process), started };
}

/** The processes of this machine; without a /proc the process number alone decides. */
export async function readProcesses(): Promise<Processes> {
  const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "unknown");
  const space = await readlink("/proc/self/ns/pid").catch(() => "unknown");
  const self: WriterIdentity = {
    host: digest(hostname()),
    boot: digest(boot),
    space: digest(space),
    process: process.pid,
    started: (await startedOf(process.pid)) ?? "0",
  };
  return { self, startedOf };
}

async function startedOf(id: number): Promise<string | null> {
  const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => null);
  if (stat !== null) return startOfStat(stat);
  return process.platform === "linux" || !answersSignals(id) ? null : "0";
}

/** Start time out of /proc/PID/stat; null for a process that has ended and only waits to be collected. */
export function startOfStat(stat: string): string | null {
  // The command's name stands in parentheses and may hold anything, so fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  return state === "Z" || state === "X" ? null : (fields[19] ?? null);
}

function answersSignals(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}

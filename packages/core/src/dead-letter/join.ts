import { createHash } from "node:crypto";
import { type DeadLetterEntry, decodeDeadLetter, identityOfId } from "./entry.js";
import { type NextDeadLetter, walkDeadLetters } from "./list.js";

/**
 * The whole of a letter, given one of its chunks (FW-DLQ-05): its other parts are looked for behind it, then from the
 * beginning. Without all of them the payload is null, and the reason says so.
 */
export async function joinChunks(next: NextDeadLetter, entry: DeadLetterEntry): Promise<DeadLetterEntry> {
  for (const from of [entry.sequence, 1]) {
    const payload = await findWhole(next, from, entry);
    if (payload === null) continue;
    if (!isIntact(payload, entry)) return { ...entry, payload: null, payloadUnavailableReason: "chunks_differ" };
    return { ...entry, payload };
  }
  return { ...entry, payload: null, payloadUnavailableReason: "chunks_missing" };
}

/** The body from the first complete set of parts, or from a repeat of the letter that carries it whole. */
async function findWhole(next: NextDeadLetter, from: number, { identity }: DeadLetterEntry): Promise<Uint8Array | null> {
  const sets = new Map<number, Map<number, Uint8Array>>();
  for await (const stored of walkDeadLetters(next, from)) {
    if (identityOfId(stored) !== identity) continue;
    const { chunk, payload } = decodeDeadLetter(stored);
    if (payload === null) continue;
    if (chunk === null) return payload;
    const parts = sets.get(chunk.count) ?? new Map<number, Uint8Array>();
    sets.set(chunk.count, parts);
    if (!parts.has(chunk.index)) parts.set(chunk.index, payload);
    if (parts.size === chunk.count) return joined(parts);
  }
  return null;
}

function joined(parts: ReadonlyMap<number, Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...parts].sort(([one], [other]) => one - other).map(([, bytes]) => bytes)));
}

function isIntact(payload: Uint8Array, { record }: DeadLetterEntry): boolean {
  const digest = record?.["payload_sha256"];
  return typeof digest !== "string" || createHash("sha256").update(payload).digest("hex") === digest;
}

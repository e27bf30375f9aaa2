/** One operation of the NATS client protocol, with the bytes it came in. */
export interface NatsFrame {
  /** Upper-case verb: `MSG`, `HMSG`, `PUB`, `HPUB`, `INFO`, `PING`, `+OK`, … */
  readonly verb: string;
  /** Subject of a message, null for other operations. */
  readonly subject: string | null;
  /** Reply subject of a message, null where there is none. */
  readonly reply: string | null;
  /** Header block of a message, as text; empty where there is none. */
  readonly headers: string;
  /** Body of a message. */
  readonly payload: Buffer;
  /** The whole operation as it stood on the wire. */
  readonly bytes: Buffer;
}

const lineEnd = Buffer.from("\r\n");
const nothing = Buffer.alloc(0);

/** Cuts a byte stream into operations of the NATS client protocol; works for either direction and any chunking. */
export class NatsFrameReader {
  #pending: Buffer = nothing;

  /** Takes bytes in and answers the operations that are complete now. */
  push(chunk: Buffer): NatsFrame[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const frames: NatsFrame[] = [];
    for (let frame = this.#take(); frame !== null; frame = this.#take()) frames.push(frame);
    return frames;
  }

  #take(): NatsFrame | null {
    const end = this.#pending.indexOf(lineEnd);
    if (end === -1) return null;
    const words = this.#pending
      .toString("utf8", 0, end)
      .trim()
      .split(/[ \t]+/);
    const verb = (words[0] ?? "").toUpperCase();
    const shape = messageShape(verb, words.slice(1));
    const bodyStart = end + lineEnd.length;
    const length = shape === null ? bodyStart : bodyStart + shape.total + lineEnd.length;
    if (this.#pending.length < length) return null;
    const bytes = this.#pending.subarray(0, length);
    this.#pending = this.#pending.subarray(length);
    if (shape === null) return { verb, subject: null, reply: null, headers: "", payload: nothing, bytes };
    const headers = bytes.toString("latin1", bodyStart, bodyStart + shape.headers);
    return {
      verb,
      subject: shape.subject,
      reply: shape.reply,
      headers,
      payload: bytes.subarray(bodyStart + shape.headers, bodyStart + shape.total),
      bytes,
    };
  }
}

interface MessageShape {
  readonly subject: string;
  readonly reply: string | null;
  readonly headers: number;
  readonly total: number;
}

/** Reads the control line of the four operations that carry a body: `MSG subject sid [reply] total` and its kin. */
function messageShape(verb: string, words: readonly string[]): MessageShape | null {
  const isMessage = verb === "MSG" || verb === "HMSG";
  if (!isMessage && verb !== "PUB" && verb !== "HPUB") return null;
  const sizes = verb.startsWith("H") ? 2 : 1;
  const leading = isMessage ? 2 : 1;
  const total = size(words.at(-1));
  const headers = sizes === 2 ? size(words.at(-2)) : 0;
  if (total === null || headers === null) return null;
  const reply = words.length > leading + sizes ? (words[leading] ?? null) : null;
  return { subject: words[0] ?? "", reply, headers, total };
}

/** A malformed size makes the line an operation without a body: the peer will refuse it, the reader must not hang on it. */
function size(word: string | undefined): number | null {
  return word !== undefined && /^\d+$/.test(word) ? Number(word) : null;
}

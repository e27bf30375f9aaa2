import type { OpenSegment } from "./open-segment.js";

/** Records of one batch and stream, on their way to a segment. */
export interface Append {
  readonly stream: string | null;
  readonly firstSequence: bigint | null;
  /** The bytes, maybe still being compressed. */
  readonly bytes: Promise<Uint8Array>;
}

/** How the log opens and leaves segments, and how it waits. */
export interface SegmentLogParts {
  readonly maximumBytes: number;
  readonly maximumAgeMs: number;
  open(stream: string | null, firstSequence: bigint | null): Promise<OpenSegment>;
  /** Closes a segment; never rejects. */
  close(segment: OpenSegment): Promise<void>;
  /** Runs something once after some time; the returned function gives that up. */
  after(milliseconds: number, run: () => void): () => void;
}

interface Waiting {
  readonly append: Append;
  readonly resolve: (segment: string) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The one writer of segments. Appends are written in the order they came; what waits while a flush runs shares the next one.
 * At most one segment is open, and everything that changes it runs in one loop.
 */
export class SegmentLog {
  readonly #parts: SegmentLogParts;
  readonly #waiting: Waiting[] = [];
  #segment: OpenSegment | null = null;
  #cancelAge: () => void = () => undefined;
  #leave = false;
  #running: Promise<void> | null = null;

  constructor(parts: SegmentLogParts) {
    this.#parts = parts;
  }

  /** Resolves with the name of the segment that holds the records when they are durable. */
  append(append: Append): Promise<string> {
    // Whoever awaits it comes later; until then a rejection must not look like nobody does.
    append.bytes.catch(() => undefined);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject });
      this.#wake();
    });
  }

  /** Writes what waits and closes the open segment. */
  async close(): Promise<void> {
    while (this.#running !== null || this.#segment !== null) {
      this.#leave = true;
      this.#wake();
      await this.#running;
    }
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#waiting.length > 0) this.#wake();
    });
  }

  async #run(): Promise<void> {
    for (let first = this.#waiting.shift(); first !== undefined; first = this.#waiting.shift()) {
      const group = [first];
      try {
        const bytes = [await first.append.bytes];
        const segment = await this.#segmentFor(first.append, (bytes[0] as Uint8Array).length);
        await this.#addFollowers(segment, group, bytes);
        await segment.append(bytes);
        for (const { resolve } of group) resolve(segment.name);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    if (this.#leave) await this.#leaveSegment();
  }

  /** Lets what waits already share the flush, as far as it belongs into the same segment. */
  async #addFollowers(segment: OpenSegment, group: Waiting[], bytes: Uint8Array[]): Promise<void> {
    let size = segment.size + (bytes[0] as Uint8Array).length;
    for (let next = this.#waiting[0]; next !== undefined && next.append.stream === segment.stream; next = this.#waiting[0]) {
      const more = await next.append.bytes.catch(() => null);
      // One that failed fails alone, at its own turn.
      if (more === null) return;
      size += more.length;
      if (size > this.#parts.maximumBytes) return;
      group.push(next);
      bytes.push(more);
      this.#waiting.shift();
    }
  }

  async #segmentFor(append: Append, length: number): Promise<OpenSegment> {
    let segment = this.#segment;
    if (segment !== null) {
      const full = segment.size > 0 && segment.size + length > this.#parts.maximumBytes;
      if (this.#leave || full || segment.stream !== append.stream || !(await segment.isInPlace())) {
        await this.#leaveSegment();
        segment = null;
      }
    }
    if (segment === null) {
      segment = await this.#parts.open(append.stream, append.firstSequence);
      this.#segment = segment;
      this.#cancelAge = this.#parts.after(this.#parts.maximumAgeMs, () => {
        this.#leave = true;
        this.#wake();
      });
    }
    return segment;
  }

  async #leaveSegment(): Promise<void> {
    this.#leave = false;
    this.#cancelAge();
    const segment = this.#segment;
    this.#segment = null;
    if (segment !== null) await this.#parts.close(segment);
  }
}

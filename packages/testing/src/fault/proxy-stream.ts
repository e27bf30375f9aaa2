import type { Socket } from "node:net";
import type { ProxyMode } from "./proxy-mode.js";

/** Sees the bytes of one direction and answers what goes on; empty for nothing. */
export interface ByteFilter {
  push(chunk: Buffer): Buffer;
}

/** Counts what goes through and what is thrown away. */
export interface StreamTally {
  passed(bytes: number): void;
  lost(bytes: number): void;
}

/** Parts a second in which throttled bytes go through. */
const throttledParts = 20;

/** One direction of a connection: a queue that its mode holds, empties, slows or throws away, always in order. */
export class ProxyStream {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #filter: ByteFilter | undefined;
  readonly #tally: StreamTally;
  /** Chunks under way, oldest first, with the time before which they must not go on. */
  readonly #queue: { chunk: Buffer; readonly notBefore: number }[] = [];
  #mode: ProxyMode;
  #lostBytes = false;
  #ended = false;
  /** When throttled bytes may go on. */
  #freeAt = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(from: Socket, to: Socket, mode: ProxyMode, filter: ByteFilter | undefined, tally: StreamTally) {
    this.#from = from;
    this.#to = to;
    this.#mode = mode;
    this.#filter = filter;
    this.#tally = tally;
    from.on("data", (chunk: Buffer) => {
      const delay = this.#mode.kind === "delay" ? this.#mode.milliseconds : 0;
      this.#queue.push({ chunk, notBefore: performance.now() + delay });
      // A slow direction reads no more than one chunk ahead, so that the sender feels the pressure.
      if (this.#isSlow) from.pause();
      this.flush();
    });
    from.on("end", () => {
      this.#ended = true;
      this.flush();
    });
    to.on("drain", () => this.#mode.kind !== "hold" && this.flush());
  }

  /** Bytes were thrown away: the stream has a hole and can never be whole again. */
  get lostBytes(): boolean {
    return this.#lostBytes;
  }

  /** Applies another mode, also to what is held. */
  change(mode: ProxyMode): void {
    this.#mode = mode;
    this.flush();
  }

  /** Sends on what may go on now. */
  flush(): void {
    if (this.#mode.kind === "hold") return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const wait = this.#waitFor(next.notBefore);
      if (wait > 0) return this.#wakeAfter(wait);
      this.#deliver(this.#take(next));
    }
    if (this.#ended) this.#to.end();
    else if (!this.#to.writableNeedDrain) this.#from.resume();
  }

  /** Ends what is waited for. */
  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  get #isSlow(): boolean {
    return this.#mode.kind === "hold" || this.#mode.kind === "throttle";
  }

  #waitFor(notBefore: number): number {
    if (this.#mode.kind === "delay") return notBefore - performance.now();
    return this.#mode.kind === "throttle" ? this.#freeAt - performance.now() : 0;
  }

  /** All of the oldest chunk, or as much of it as a throttle lets through at once. */
  #take(next: { chunk: Buffer }): Buffer {
    if (this.#mode.kind !== "throttle") {
      this.#queue.shift();
      return next.chunk;
    }
    const { bytesPerSecond } = this.#mode;
    const part = next.chunk.subarray(0, Math.max(1, Math.floor(bytesPerSecond / throttledParts)));
    if (part.length === next.chunk.length) this.#queue.shift();
    else next.chunk = next.chunk.subarray(part.length);
    this.#freeAt = Math.max(performance.now(), this.#freeAt) + (1000 * part.length) / bytesPerSecond;
    return part;
  }

  #deliver(chunk: Buffer): void {
    if (this.#mode.kind === "drop") {
      this.#lostBytes = true;
      this.#tally.lost(chunk.length);
      return;
    }
    const rest = this.#filter === undefined ? chunk : this.#filter.push(chunk);
    if (rest.length === 0 || this.#to.destroyed) return;
    this.#tally.passed(rest.length);
    if (!this.#to.write(rest)) this.#from.pause();
  }

  #wakeAfter(milliseconds: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), milliseconds);
  }
}

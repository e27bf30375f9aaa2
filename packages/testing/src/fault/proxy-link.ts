import type { Socket } from "node:net";

/** Sees the bytes of one direction and answers what goes on; empty for nothing. */
export interface ByteFilter {
  push(chunk: Buffer): Buffer;
}

/** How a connection is treated at present. */
export type ProxyMode = { readonly kind: "pass" | "hold" | "drop-replies" } | { readonly kind: "delay"; readonly milliseconds: number };

interface Direction {
  readonly name: "toServer" | "toClient";
  readonly from: Socket;
  readonly to: Socket;
  readonly filter: ByteFilter | undefined;
  /** Chunks under way, oldest first, with the time before which they must not go on. */
  readonly queue: { readonly chunk: Buffer; readonly notBefore: number }[];
  ended: boolean;
  timer: NodeJS.Timeout | null;
}

/** One connection through the proxy: two directions, each a queue that the mode holds, empties or thins. */
export class ProxyLink {
  readonly closed: Promise<void>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #bytes: { toServer: number; toClient: number };
  readonly #directions: readonly Direction[];
  #mode: ProxyMode;
  #lostBytes = false;

  constructor(
    client: Socket,
    server: Socket,
    mode: ProxyMode,
    bytes: { toServer: number; toClient: number },
    filters: { readonly toServer: ByteFilter | undefined; readonly toClient: ByteFilter | undefined },
  ) {
    this.#client = client;
    this.#server = server;
    this.#mode = mode;
    this.#bytes = bytes;
    this.#directions = [
      { name: "toServer", from: client, to: server, filter: filters.toServer, queue: [], ended: false, timer: null },
      { name: "toClient", from: server, to: client, filter: filters.toClient, queue: [], ended: false, timer: null },
    ];
    this.closed = Promise.all([client, server].map(whenClosed)).then(() => this.#clearTimers());
    for (const direction of this.#directions) this.#attach(direction);
    client.resume();
  }

  /** Applies another mode to this connection, also to what it holds. */
  change(mode: ProxyMode): void {
    if (this.#lostBytes && mode.kind !== "drop-replies") {
      this.reset();
      return;
    }
    this.#mode = mode;
    for (const direction of this.#directions) this.#flush(direction);
  }

  /** Ends both sides with a TCP reset. */
  reset(): void {
    for (const socket of [this.#client, this.#server]) {
      // A reset is refused while a socket is shutting down, and its close would then never come.
      if (socket.connecting || socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  #attach(direction: Direction): void {
    const { from, to, queue } = direction;
    from.on("data", (chunk: Buffer) => {
      const delay = this.#mode.kind === "delay" ? this.#mode.milliseconds : 0;
      queue.push({ chunk, notBefore: performance.now() + delay });
      // A held connection reads no more than one chunk, so that the sender feels the pressure.
      if (this.#mode.kind === "hold") from.pause();
      this.#flush(direction);
    });
    from.on("end", () => {
      direction.ended = true;
      this.#flush(direction);
    });
    from.on("error", () => this.reset());
    to.on("drain", () => this.#mode.kind !== "hold" && from.resume());
  }

  #flush(direction: Direction): void {
    const { from, to, queue } = direction;
    if (this.#mode.kind === "hold") return;
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const wait = this.#mode.kind === "delay" ? next.notBefore - performance.now() : 0;
      if (wait > 0) {
        this.#wakeAfter(direction, wait);
        return;
      }
      queue.shift();
      this.#deliver(direction, next.chunk);
    }
    if (direction.ended) to.end();
    else if (!to.writableNeedDrain) from.resume();
  }

  #deliver(direction: Direction, chunk: Buffer): void {
    if (direction.name === "toClient" && this.#mode.kind === "drop-replies") {
      this.#lostBytes = true;
      return;
    }
    const rest = direction.filter === undefined ? chunk : direction.filter.push(chunk);
    if (rest.length === 0 || direction.to.destroyed) return;
    this.#bytes[direction.name] += rest.length;
    if (!direction.to.write(rest)) direction.from.pause();
  }

  #wakeAfter(direction: Direction, milliseconds: number): void {
    if (direction.timer !== null) clearTimeout(direction.timer);
    direction.timer = setTimeout(() => this.#flush(direction), milliseconds);
  }

  #clearTimers(): void {
    for (const { timer } of this.#directions) if (timer !== null) clearTimeout(timer);
  }
}

function whenClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}

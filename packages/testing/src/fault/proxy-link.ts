import type { Socket } from "node:net";
import type { ProxyEnd, ProxyModes } from "./proxy-mode.js";
import { type ByteFilter, ProxyStream, type StreamTally } from "./proxy-stream.js";

/** Bytes of all connections of a proxy. */
export interface ProxyBytes {
  toServer: number;
  toClient: number;
  lost: number;
}

/** One connection through the proxy: two streams, and two sockets that may lose each other. */
export class ProxyLink {
  readonly closed: Promise<void>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #toServer: ProxyStream;
  readonly #toClient: ProxyStream;
  #halfOpen = false;

  constructor(
    client: Socket,
    server: Socket,
    modes: ProxyModes,
    bytes: ProxyBytes,
    filters: { readonly toServer: ByteFilter | undefined; readonly toClient: ByteFilter | undefined },
  ) {
    this.#client = client;
    this.#server = server;
    const tally = (direction: "toServer" | "toClient"): StreamTally => ({
      passed: (count) => {
        bytes[direction] += count;
      },
      lost: (count) => {
        bytes.lost += count;
      },
    });
    this.#toServer = new ProxyStream(client, server, modes.toServer, filters.toServer, tally("toServer"));
    this.#toClient = new ProxyStream(server, client, modes.toClient, filters.toClient, tally("toClient"));
    for (const socket of [client, server]) socket.on("error", () => this.#failed());
    this.closed = Promise.all([client, server].map(whenClosed)).then(() => {
      this.#toServer.dispose();
      this.#toClient.dispose();
    });
    client.resume();
  }

  /** Applies other modes to this connection, also to what it holds. A stream with a hole is not continued. */
  change(modes: ProxyModes): void {
    const continued =
      (this.#toServer.lostBytes && modes.toServer.kind !== "drop") || (this.#toClient.lostBytes && modes.toClient.kind !== "drop");
    if (this.#halfOpen || continued) return this.reset();
    this.#toServer.change(modes.toServer);
    this.#toClient.change(modes.toClient);
  }

  /** Ends both sides with a TCP reset. */
  reset(): void {
    for (const socket of [this.#client, this.#server]) end(socket);
  }

  /** One end vanishes, and the other is never told: what it sends goes nowhere. */
  lose(gone: ProxyEnd): void {
    this.#halfOpen = true;
    this.#toServer.change({ kind: "drop" });
    this.#toClient.change({ kind: "drop" });
    const left = gone === "server" ? this.#client : this.#server;
    // What is left closes when its own process does.
    left.once("end", () => left.destroy());
    left.resume();
    end(gone === "server" ? this.#server : this.#client);
  }

  #failed(): void {
    if (!this.#halfOpen) this.reset();
  }
}

function end(socket: Socket): void {
  // A reset is refused while a socket is shutting down, and its close would then never come.
  if (socket.connecting || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function whenClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}

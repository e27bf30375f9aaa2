import type { Socket } from "node:net";

/**
 * Clients that have connected and not asked yet. Only so many may wait: for one more the one that has waited longest is let go, so
 * that slow or silent clients never keep out one that asks at once (FW-OBS-06).
 */
export class WaitingClients {
  readonly #most: number;
  readonly #waiting = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  /** A client has connected. */
  begin(socket: Socket): void {
    this.#waiting.add(socket);
    socket.once("close", () => this.#waiting.delete(socket));
    if (this.#waiting.size <= this.#most) return;
    const [longest] = this.#waiting;
    longest?.destroy();
    if (longest !== undefined) this.#waiting.delete(longest);
  }

  /** Its request is here as a whole. */
  end(socket: Socket): void {
    this.#waiting.delete(socket);
  }
}

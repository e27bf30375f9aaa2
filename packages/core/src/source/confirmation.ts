import type { NatsConnection } from "@nats-io/transport-node";

/** What came of asking the server to confirm a settlement. */
export type Confirmation = "confirmed" | "no_responders" | "timed_out";

interface Pending {
  readonly resolve: (confirmation: Confirmation) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Publishes to a kept reply subject and waits for the server's answer. Unlike the client's own confirmed ack it may be
 * repeated for one message after a time-out (FW-RUN-24). A reply proves receipt, not effect.
 */
export class Confirmations {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #pending = new Map<string, Pending>();
  #number = 0;

  constructor(connection: NatsConnection, inbox: string) {
    this.#connection = connection;
    this.#inbox = inbox;
    connection.subscribe(`${inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#answer(message.subject, message.data.length === 0 && message.headers?.code === 503);
      },
    });
  }

  /** Sends `verb` and waits for the reply, `timeoutMs` at most. Throws only when the connection is closed. */
  confirm(subject: string, verb: string, timeoutMs: number): Promise<Confirmation> {
    const reply = `${this.#inbox}.${this.#number}`;
    this.#number += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(reply);
        resolve("timed_out");
      }, timeoutMs);
      this.#pending.set(reply, { resolve, timer });
      try {
        this.#connection.publish(subject, verb, { reply });
      } catch (error) {
        clearTimeout(timer);
        this.#pending.delete(reply);
        reject(error as Error);
      }
    });
  }

  /** Answers every open request as timed out; nothing is waited for any more. */
  dispose(): void {
    for (const { resolve, timer } of this.#pending.values()) {
      clearTimeout(timer);
      resolve("timed_out");
    }
    this.#pending.clear();
  }

  #answer(reply: string, noResponders: boolean): void {
    const pending = this.#pending.get(reply);
    if (pending === undefined) return;
    this.#pending.delete(reply);
    clearTimeout(pending.timer);
    pending.resolve(noResponders ? "no_responders" : "confirmed");
  }
}

import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { ackText } from "./positions.js";

/** One pull request as the server would read it. */
export interface PullRequest {
  readonly subject: string;
  readonly inbox: string;
  readonly body: {
    readonly batch: number;
    readonly max_bytes?: number;
    readonly expires: number;
    readonly idle_heartbeat: number;
    readonly group?: string;
    readonly id?: string;
  };
}

type Callback = (error: Error | null, message: Msg) => void;

/** The few calls of a NATS connection that pulls need, in memory: a test plays the server. */
export class FakeConnection {
  readonly requests: PullRequest[] = [];
  readonly #subscriptions = new Map<string, Callback>();
  /** Inboxes that were unsubscribed. */
  readonly unsubscribed: string[] = [];
  closed = false;
  #consumerSequence = 0;

  /** As the type the code under test asks for. */
  get connection(): NatsConnection {
    return this as unknown as NatsConnection;
  }

  isClosed(): boolean {
    return this.closed;
  }

  subscribe(inbox: string, { callback }: { readonly callback: Callback }): Subscription {
    if (this.closed) throw new Error("closed connection");
    this.#subscriptions.set(inbox, callback);
    return {
      unsubscribe: () => {
        this.#subscriptions.delete(inbox);
        this.unsubscribed.push(inbox);
      },
    } as Subscription;
  }

  publish(subject: string, body: string, { reply }: { readonly reply: string }): void {
    if (this.closed) throw new Error("closed connection");
    this.requests.push({ subject, inbox: reply, body: JSON.parse(body) as PullRequest["body"] });
  }

  /** Inbox of the nth request, from 0. */
  inbox(request: number): string {
    return (this.requests[request] as PullRequest).inbox;
  }

  /** Sends a message to a pull; false when nobody listens there any more. */
  deliver(inbox: string, sequence: number, size = 100, pin?: string): boolean {
    this.#consumerSequence += 1;
    const headers =
      pin === undefined ? undefined : { code: 0, description: "", get: (name: string) => (name === "Nats-Pin-Id" ? pin : "") };
    const reply = ackText({ sequence, consumerSequence: this.#consumerSequence });
    return this.#send(inbox, { subject: "events.a", reply, data: new Uint8Array(0), headers, size: () => size });
  }

  /** Sends a status to a pull. */
  status(inbox: string, code: number, description = "", left: Readonly<Record<string, string>> = {}): boolean {
    return this.#send(inbox, {
      subject: inbox,
      reply: "",
      data: new Uint8Array(0),
      headers: { code, description, get: (name: string) => left[name] ?? "" },
      size: () => 50,
    });
  }

  /** Sends something that is neither. */
  send(inbox: string, message: Partial<Msg>): boolean {
    return this.#send(inbox, message);
  }

  #send(inbox: string, message: unknown): boolean {
    const callback = this.#subscriptions.get(inbox);
    callback?.(null, message as Msg);
    return callback !== undefined;
  }
}

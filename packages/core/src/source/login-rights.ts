import { setImmediate as nextTurn } from "node:timers/promises";
import { createInbox, errors, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { apiPrefix } from "./connection.js";
import type { ConsumerState } from "./consumer.js";

type NatsSection = Configuration["nats"];

const domainPrefix = /^\$JS\.[^.]+\.API(?=\.|$)/;

/** The subject that a request of the API needs, for remedies. A server takes the name of its own domain out before it looks at rights. */
export function requestSubject(prefix: string, request: string): string {
  const subject = `${prefix}.${request}`;
  return domainPrefix.test(prefix) ? `${subject} (on servers of that domain: ${withoutDomain(subject)})` : subject;
}

/** The subject on which deliveries of the consumer are asked for, for remedies. */
export function pullSubject(nats: NatsSection): string {
  return requestSubject(apiPrefix(nats), pullRequest(nats));
}

function pullRequest({ stream, consumer }: NatsSection): string {
  return `CONSUMER.MSG.NEXT.${stream}.${consumer}`;
}

/** The request by which the client updates a consumer. */
export function updateRequest({ stream_name: stream, name, config }: ConsumerState): string {
  const { filter_subject: filter } = config;
  return ["CONSUMER.CREATE", stream, name, ...(filter === undefined ? [] : [filter])].join(".");
}

function withoutDomain(subject: string): string {
  return subject.replace(domainPrefix, () => "$JS.API");
}

/** The subjects on which deliveries of the consumer are settled. */
export function settlementSubjects({ stream, consumer }: NatsSection): string {
  return `$JS.ACK.${stream}.${consumer}.>`;
}

/**
 * Finds out what a login may do, with probes that the server refuses or that mean nothing. A server says a refusal before it
 * answers the next ping, and says nothing otherwise. Disposal ends the listening and leaves the connection open.
 */
export class LoginRights implements Disposable {
  readonly #connection: NatsConnection;
  readonly #nats: NatsSection;
  readonly #refused = new Set<string>();
  #ended = false;

  constructor(connection: NatsConnection, nats: NatsSection) {
    this.#connection = connection;
    this.#nats = nats;
    void this.#watch();
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (this.#ended) return;
      if (status.type !== "error" || !(status.error instanceof errors.PermissionViolationError)) continue;
      this.#refused.add(`${status.error.operation} ${status.error.subject}`);
    }
  }

  /** Resolves when the server has said what it had to say, and the watcher has heard it. */
  async #answered(): Promise<void> {
    await this.#connection.flush();
    await nextTurn();
  }

  /** Deliveries may be asked for; the server refuses what is sent as malformed. */
  mayPull(): Promise<boolean> {
    return this.mayPublish(`${apiPrefix(this.#nats)}.${pullRequest(this.#nats)}`, "{");
  }

  /** Deliveries may be acknowledged; what is sent names no delivery. */
  maySettle(): Promise<boolean> {
    const { stream, consumer } = this.#nats;
    return this.mayPublish(`$JS.ACK.${stream}.${consumer}.0.0.0.0.0`, "+WPI");
  }

  async mayPublish(subject: string, body: string, headers?: MsgHdrs): Promise<boolean> {
    // Without an inbox of its own the answer would be taken for a message.
    const reply = createInbox(this.#nats.inbox_prefix);
    this.#connection.publish(subject, body, { reply, ...(headers === undefined ? {} : { headers }) });
    await this.#answered();
    return ![subject, withoutDomain(subject)].some((name) => this.#refused.has(`publish ${name}`));
  }

  async maySubscribe(subject: string): Promise<boolean> {
    const subscription = this.#connection.subscribe(subject, { callback: () => undefined });
    await this.#answered();
    subscription.unsubscribe();
    return !this.#refused.has(`subscription ${subject}`);
  }

  [Symbol.dispose](): void {
    this.#ended = true;
  }
}

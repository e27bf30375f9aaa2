import type { StoredMsg } from "@nats-io/jetstream";
import type { Telemetry } from "../telemetry/port.js";
import { describeApiFault } from "./api-fault.js";
import type { Link } from "./link.js";
import { streamHolds } from "./publication.js";
import type { SequenceNumber } from "./sequence.js";

/** A message as the stream holds it; only `source/` looks inside. */
export type StoredMessage = StoredMsg;

/** The messages of one stream as the server stores them, read one by one. */
export class StoredMessages {
  readonly #stream: string;
  readonly #link: () => Link;
  readonly #telemetry: Telemetry;

  constructor(stream: string, link: () => Link, telemetry: Telemetry) {
    this.#stream = stream;
    this.#link = link;
    this.#telemetry = telemetry;
  }

  /** The message at a sequence; null when the stream has none there. Rejects when the server does not say. */
  find(sequence: SequenceNumber): Promise<StoredMessage | null> {
    return this.#link().manager.streams.getMessage(this.#stream, { seq: Number(sequence) });
  }

  /** The message at a sequence; null when it cannot be read, now or ever. */
  async read(sequence: SequenceNumber): Promise<StoredMessage | null> {
    try {
      return await this.find(sequence);
    } catch (error) {
      this.#telemetry.log("debug", "message not read from the stream", { error: describeApiFault(error) });
      return null;
    }
  }

  /** Whether the stream still has a message; null when the server does not say. */
  async holds(sequence: SequenceNumber): Promise<boolean | null> {
    try {
      return await streamHolds(this.#link().manager, this.#stream, Number(sequence));
    } catch {
      return null;
    }
  }
}

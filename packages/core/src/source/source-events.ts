import type { ConsumerInfo } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { AckSubject } from "./ack-subject.js";
import type { Epoch } from "./epoch.js";
import type { SequenceNumber } from "./sequence.js";

/** What is kept of a consumer that is gone. */
export interface BeforeRecreation {
  /** Highest sequence below which every delivered message was acked; 0 when unknown. */
  readonly ackedBelow: SequenceNumber;
  /** The mark of messages that it would not have delivered again; null without any. */
  readonly mark: string | null;
}

/** What the source tells the runner; calls are synchronous. */
export interface SourceEvents {
  delivered(message: Msg, position: AckSubject, bytes: number, epoch: Epoch): void;
  /** Room came free or may be used again. */
  roomChanged(): void;
  connection(connected: boolean): void;
  /** What is missing on the server, or null when all is there again. */
  missing(what: "stream" | "consumer" | null): void;
  /** The stream or consumer is another one than before: nothing fetched earlier may be settled. */
  epochChanged(epoch: Epoch): void;
  consumerSeen(consumer: ConsumerInfo): void;
  /** This client has the pin now; another one may have had it before. */
  pinned(): void;
  /** A delivery whose message does not fit the open pulls. */
  oversized(): void;
  /** The server gave a message up: it was delivered `max_deliver` times (FW-RUN-21). */
  givenUp(sequence: SequenceNumber): void;
  /** Nothing can go on: `on_consumer_missing: exit`. */
  failed(reason: string): void;
  /** What a consumer that is made again has to know of the one before. */
  beforeRecreation(): BeforeRecreation;
}

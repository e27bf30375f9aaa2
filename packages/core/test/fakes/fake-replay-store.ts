import type { DeadLetterMessage } from "../../src/dead-letter/size.js";
import type { StoredDeadLetter } from "../../src/source/dead-letter-store.js";
import type { Publication } from "../../src/source/publication.js";
import type { OriginalPlace, ReplayStore } from "../../src/source/replay-store.js";
import { storedAs } from "./stored-dead-letters.js";

/** A dead-letter stream `DLQ` over `dlq.a` and `dlq.a.done`, and a stream `EVENTS` over the rest, in memory. */
export class FakeReplayStore implements ReplayStore {
  readonly subject = "dlq.a";
  readonly stream = "DLQ";
  readonly messages: StoredDeadLetter[] = [];
  readonly originals = new Map<number, StoredDeadLetter>();
  readonly published: {
    readonly subject: string;
    readonly body: Uint8Array;
    readonly headers: ReadonlyMap<string, string>;
    readonly id: string;
  }[] = [];
  readonly asked: OriginalPlace[] = [];
  /** Takes the done subject. */
  doneStream: string | null = "DLQ";
  /** Called before a message is taken; may throw. */
  beforePublish: (subject: string) => void = () => undefined;
  readonly #ids = new Set<string>();

  add(message: DeadLetterMessage): number {
    const sequence = this.messages.length + 1;
    this.messages.push(storedAs(message, sequence));
    return sequence;
  }

  /** Subjects of the messages that were published, markers left out. */
  get republished(): string[] {
    return this.published.map(({ subject }) => subject).filter((subject) => !subject.endsWith(".done"));
  }

  async next(subject: string, from: number): Promise<StoredDeadLetter | null> {
    return this.messages.find((message) => message.subject === subject && message.sequence >= from) ?? null;
  }

  async read(sequence: number): Promise<StoredDeadLetter | null> {
    return this.messages[sequence - 1] ?? null;
  }

  async lastSequence(): Promise<number> {
    return this.messages.length;
  }

  async streamOf(): Promise<string | null> {
    return this.doneStream;
  }

  async publish(subject: string, body: Uint8Array, headers: ReadonlyMap<string, string>, id: string): Promise<Publication> {
    this.beforePublish(subject);
    const ours = subject.startsWith("dlq.");
    const place = { stream: ours ? "DLQ" : "EVENTS", domain: null };
    if (this.#ids.has(id)) return { ...place, sequence: 1, duplicate: true };
    this.#ids.add(id);
    this.published.push({ subject, body, headers, id });
    if (ours) this.messages.push({ ...storedAs({ body, headers, id }, this.messages.length + 1), subject });
    return { ...place, sequence: this.messages.length, duplicate: false };
  }

  async original(place: OriginalPlace): Promise<StoredDeadLetter | null> {
    this.asked.push(place);
    return this.originals.get(place.sequence) ?? null;
  }

  [Symbol.asyncDispose] = async (): Promise<void> => undefined;
}

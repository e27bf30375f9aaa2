import type { DeadLetterPort, StreamLimits } from "../../src/source/dead-letter-port.js";
import type { Publication } from "../../src/source/publication.js";

/** One publication as it was asked for. */
export interface Published {
  readonly subject: string;
  readonly body: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly id: string;
}

const decoder = new TextDecoder();

/** A dead-letter stream in memory: it knows ids, can forget entries, and fails by script. */
export class FakeDeadLetterPort implements DeadLetterPort {
  readonly published: Published[] = [];
  /** Ids the server knows, with the sequence their entry has or had. */
  readonly ids = new Map<string, number>();
  /** Sequences that hold an entry now. */
  readonly entries = new Map<number, Published>();
  stream: string | null = "DLQ";
  domain: string | null = null;
  lookups = 0;
  /** What the stream says of itself. */
  limits: StreamLimits | null = null;
  limitReads = 0;
  /** Called with each publication before it is stored; may throw or wait. */
  beforePublish: (published: Published) => void | Promise<void> = () => undefined;
  /** Called before an entry is read back; may throw. */
  beforeRead: () => void = () => undefined;
  #next = 1;

  async publish(subject: string, body: Uint8Array, headers: ReadonlyMap<string, string>, id: string): Promise<Publication> {
    const published = { subject, body: decoder.decode(body), headers, id };
    this.published.push(published);
    await this.beforePublish(published);
    const known = this.ids.get(id);
    const stream = this.stream ?? "NONE";
    if (known !== undefined) return { stream, domain: this.domain, sequence: known, duplicate: true };
    const sequence = this.#next;
    this.#next += 1;
    this.ids.set(id, sequence);
    this.entries.set(sequence, published);
    return { stream, domain: this.domain, sequence, duplicate: false };
  }

  async streamOf(): Promise<string | null> {
    this.lookups += 1;
    return this.stream;
  }

  async limitsOf(): Promise<StreamLimits | null> {
    this.limitReads += 1;
    return this.limits;
  }

  limit = 1_048_576;

  maxPayload(): number {
    return this.limit;
  }

  async holds(_stream: string, sequence: number, subject: string, id: string): Promise<boolean> {
    this.beforeRead();
    const entry = this.entries.get(sequence);
    return entry !== undefined && entry.subject === subject && entry.id === id;
  }
}

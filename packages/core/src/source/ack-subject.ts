import { type SequenceNumber, readSequence } from "./sequence.js";

const dot = 46;
const prefix = "$JS.ACK.";
/** Dots in the two forms of the subject: nine tokens, or eleven and more with domain and account hash in front. */
const shortForm = 8;
const longForm = 10;

/**
 * What the server tells about a delivery in its reply subject:
 * `$JS.ACK.<stream>.<consumer>.<count>.<stream seq>.<consumer seq>.<time>.<pending>`, or the longer form with
 * `<domain>.<account hash>` after `ACK`. Times and counts stay digits until asked for.
 */
export class AckSubject {
  readonly sequence: SequenceNumber;
  readonly consumerSequenceNumber: SequenceNumber;
  readonly count: number;
  readonly #text: string;
  readonly #time: number;
  readonly #pending: number;
  readonly #end: number;

  private constructor(
    text: string,
    count: number,
    sequence: SequenceNumber,
    consumerSequence: SequenceNumber,
    time: number,
    pending: number,
    end: number,
  ) {
    this.#text = text;
    this.count = count;
    this.sequence = sequence;
    this.consumerSequenceNumber = consumerSequence;
    this.#time = time;
    this.#pending = pending;
    this.#end = end;
  }

  /** Null for any subject that is not an ack subject: such a reply is never answered (FW-RUN-07). */
  static parse(text: string): AckSubject | null {
    if (!text.startsWith(prefix)) return null;
    const dots: number[] = [];
    for (let index = prefix.length - 1; index < text.length; index += 1) {
      if (text.charCodeAt(index) === dot) dots.push(index);
    }
    // The dot before the first token after ACK is dots[0]; two dots of "$JS.ACK" are not counted but this one.
    const tokens = dots.length + 1;
    const first = tokens === shortForm ? 2 : tokens >= longForm ? 4 : -1;
    if (first < 0) return null;
    const number = (token: number): SequenceNumber | null =>
      readSequence(text, (dots[token] as number) + 1, dots[token + 1] ?? text.length);
    const count = number(first);
    const sequence = number(first + 1);
    const consumerSequence = number(first + 2);
    if (typeof count !== "number" || sequence === null || consumerSequence === null) return null;
    return new AckSubject(
      text,
      count,
      sequence,
      consumerSequence,
      (dots[first + 3] as number) + 1,
      (dots[first + 4] as number) + 1,
      dots[first + 5] ?? text.length,
    );
  }

  get text(): string {
    return this.#text;
  }

  get streamSequence(): bigint {
    return BigInt(this.sequence);
  }

  get consumerSequence(): bigint {
    return BigInt(this.consumerSequenceNumber);
  }

  get deliveryCount(): number {
    return this.count;
  }

  /** Server time of the message, ns since the Unix epoch, digit for digit. */
  get timestampNs(): bigint | null {
    const digits = this.#text.slice(this.#time, this.#pending - 1);
    return /^\d+$/.test(digits) ? BigInt(digits) : null;
  }

  get pending(): number | null {
    const value = readSequence(this.#text, this.#pending, this.#end);
    return value === null ? null : Number(value);
  }
}

import { readSequence, type SequenceNumber } from "./sequence.js";

const dot = 46;
const prefix = "$JS.ACK.";
/** Dots of the two forms of the subject: nine tokens, or eleven with domain and account hash and perhaps a last random one. */
const shortDots = 8;
const longDots = 10;

/**
 * What the server tells about a delivery in its reply subject:
 * `$JS.ACK.<stream>.<consumer>.<count>.<stream seq>.<consumer seq>.<time>.<pending>`, or the longer form with
 * `<domain>.<account hash>` after `ACK`. Made for every message: times and counts stay digits until asked for.
 */
export class AckSubject {
  readonly text: string;
  /** Delivery count, 1 on the first delivery. */
  readonly count: number;
  readonly sequence: SequenceNumber;
  readonly consumerSequenceNumber: SequenceNumber;
  /** @internal Where the time begins; what is asked for seldom is found from here. */
  readonly timeAt: number;

  private constructor(text: string, count: number, sequence: SequenceNumber, consumerSequence: SequenceNumber, timeAt: number) {
    this.text = text;
    this.count = count;
    this.sequence = sequence;
    this.consumerSequenceNumber = consumerSequence;
    this.timeAt = timeAt;
  }

  /** Null for any subject that is not an ack subject: such a reply is never answered (FW-RUN-07). */
  static parse(text: string): AckSubject | null {
    if (!text.startsWith(prefix)) return null;
    // Places of the last six dots, oldest first; the tokens between them are the numbers.
    let a = -1;
    let b = -1;
    let c = -1;
    let d = -1;
    let e = -1;
    let f = -1;
    let dots = 0;
    for (let index = 0; index < text.length; index += 1) {
      if (text.charCodeAt(index) !== dot) continue;
      dots += 1;
      a = b;
      b = c;
      c = d;
      d = e;
      e = f;
      f = index;
      // Tokens that a later server may add stand at the end and are not ours to read.
      if (dots > longDots) break;
    }
    if (dots === shortDots || dots === longDots) return AckSubject.read(text, b, c, d, e);
    return dots > longDots ? AckSubject.read(text, a, b, c, d) : null;
  }

  /** @internal Makes one from the places of the dots before its first four numbers. */
  static read(text: string, count: number, sequence: number, consumer: number, time: number): AckSubject | null {
    const counted = readSequence(text, count + 1, sequence);
    const streamSequence = readSequence(text, sequence + 1, consumer);
    const consumerSequence = readSequence(text, consumer + 1, time);
    if (typeof counted !== "number" || streamSequence === null || consumerSequence === null) return null;
    return new AckSubject(text, counted, streamSequence, consumerSequence, time + 1);
  }

  /** @internal What stands before the numbers. */
  get prefix(): string {
    let end = this.timeAt - 1;
    for (let numbers = 0; numbers < 3; numbers += 1) end = this.text.lastIndexOf(".", end - 1);
    return this.text.slice(0, end + 1);
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
    const digits = this.text.slice(this.timeAt, this.text.indexOf(".", this.timeAt));
    return /^\d+$/.test(digits) ? BigInt(digits) : null;
  }

  get pending(): number | null {
    const start = this.text.indexOf(".", this.timeAt) + 1;
    const end = this.text.indexOf(".", start);
    const value = readSequence(this.text, start, end < 0 ? this.text.length : end);
    return value === null ? null : Number(value);
  }
}

/** The ack subject of a stored message that the server will not deliver again: it has no consumer sequence any more, so that is 0. */
export function ackSubjectOf(stream: string, consumer: string, count: number, sequence: number, timestampNs: bigint): AckSubject {
  return AckSubject.parse(`${prefix}${stream}.${consumer}.${count}.${sequence}.0.${timestampNs}.0`) as AckSubject;
}

/**
 * Reads the ack subjects of one consumer. What stands before the numbers is the same for all of its messages, so it is
 * found once and compared afterwards; the numbers are then read in one pass.
 */
export class AckSubjectReader {
  #prefix: string | null = null;

  read(text: string): AckSubject | null {
    if (this.#prefix !== null && text.startsWith(this.#prefix)) {
      const position = readNumbers(text, this.#prefix.length);
      if (position !== null) return position;
    }
    const position = AckSubject.parse(text);
    if (position !== null) this.#prefix = position.prefix;
    return position;
  }
}

/** The numbers from `start` on, in one pass; null for anything unusual, which the careful way then reads. */
function readNumbers(text: string, start: number): AckSubject | null {
  const sequence = text.indexOf(".", start);
  const consumer = text.indexOf(".", sequence + 1);
  const time = text.indexOf(".", consumer + 1);
  if (sequence < 0 || consumer < 0 || time < 0 || text.indexOf(".", time + 1) < 0) return null;
  return AckSubject.read(text, start - 1, sequence, consumer, time);
}

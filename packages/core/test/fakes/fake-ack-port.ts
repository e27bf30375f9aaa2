import type { AckPort } from "../../src/runner/settle.js";
import type { Confirmation } from "../../src/source/confirmation.js";

/** One ack verb as it went out. */
export interface SentVerb {
  readonly subject: string;
  readonly verb: string;
  readonly confirmed: boolean;
}

const decoder = new TextDecoder();

/** An ack port in memory: what is sent is kept, answers are scripted. */
export class FakeAckPort implements AckPort {
  readonly sent: SentVerb[] = [];
  connected = true;
  generation = 1;
  epochNumber = 1;
  trusted = true;
  readonly doubts: string[] = [];
  /** Called before each send; may throw or change the port. */
  beforeSend: (sent: SentVerb) => void = () => undefined;
  /** Answer to each confirmation. */
  answer: (sent: SentVerb) => Confirmation | Promise<Confirmation> = () => "confirmed";
  /** What waiting for trust comes to. */
  settling: (signal: AbortSignal) => boolean | Promise<boolean> = () => {
    this.trusted = true;
    return true;
  };

  doubt(reason: string): void {
    this.doubts.push(reason);
  }

  publish(subject: string, verb: Uint8Array): void {
    this.#send({ subject, verb: decoder.decode(verb), confirmed: false });
  }

  async confirm(subject: string, verb: Uint8Array): Promise<Confirmation> {
    const sent = { subject, verb: decoder.decode(verb), confirmed: true };
    this.#send(sent);
    return await this.answer(sent);
  }

  async whenSettling(signal: AbortSignal): Promise<boolean> {
    return await this.settling(signal);
  }

  /** Verbs in the order they went out. */
  get verbs(): string[] {
    return this.sent.map(({ verb }) => verb);
  }

  #send(sent: SentVerb): void {
    this.beforeSend(sent);
    this.sent.push(sent);
  }
}

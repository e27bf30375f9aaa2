import type { AckPort } from "../../src/runner/settle.js";
import type { Confirmation } from "../../src/source/confirmation.js";

/** One ack verb as it went out. */
export interface SentVerb {
  readonly subject: string;
  readonly verb: string;
  readonly confirmed: boolean;
}

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

  publish(subjects: readonly string[], verb: string): void {
    for (const subject of subjects) this.#send({ subject, verb, confirmed: false });
  }

  async confirm(subject: string, verb: string): Promise<Confirmation> {
    const sent = { subject, verb, confirmed: true };
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

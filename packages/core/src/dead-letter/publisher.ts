import { isErrorKind } from "../error/errors.js";
import type { DeadLetterPort } from "../source/dead-letter-port.js";
import { pause } from "../source/pause.js";
import type { LogFields, Telemetry } from "../telemetry/port.js";
import type { DeadLetter } from "./form.js";
import { type DeadLetterLimits, type DeadLetterMessage, deadLetterLimits, messageBytes } from "./size.js";

/** In the stream; given up because the process leaves; or larger than the stream takes in any form. */
export type DeadLetterResult = "published" | "aborted" | "too_large";

/** Where dead letters go. */
export interface DeadLetterSettings {
  readonly subject: string;
  /** The stream that must acknowledge; null is the one that captures the subject (FW-DLQ-01). */
  readonly stream: string | null;
  /** The domain that must acknowledge; null is any (FW-DLQ-11). */
  readonly domain: string | null;
  /** Largest message, besides the limits of the server and the stream; null for no other limit (FW-DLQ-05). */
  readonly maxBytes: number | null;
  readonly maxInFlight: number;
  /** Pause in ms after so many failures of one letter. */
  readonly waitMs: (failures: number) => number;
}

/** The expected stream and what it allows, found out before the first letter and again after each failure (FW-DLQ-11). */
interface Target {
  readonly stream: string;
  readonly limits: DeadLetterLimits;
}

/** A retry policy may say zero; the stream is not asked again at once for all that. */
const leastPauseMs = 50;
/** Where the stream refuses a size that its limits seemed to allow, no smaller one than this is tried. */
const leastMessageBytes = 512;

/**
 * Publishes dead letters, several at a time, again and again until the expected stream has acknowledged: the original
 * stays leased meanwhile and is settled only afterwards (FW-DLQ-01, FW-DLQ-06).
 */
export class DeadLetters {
  readonly #port: DeadLetterPort;
  readonly #settings: DeadLetterSettings;
  readonly #telemetry: Telemetry;
  readonly #queue: (() => void)[] = [];
  #target: Target | null = null;
  #look: Promise<Target | null> | null = null;
  #active = 0;
  readonly #failing = new Set<DeadLetter>();

  constructor(port: DeadLetterPort, settings: DeadLetterSettings, telemetry: Telemetry) {
    this.#port = port;
    this.#settings = settings;
    this.#telemetry = telemetry;
  }

  /** Letters whose publication has failed and is tried again. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Resolves when the letter is in the stream, or cannot get there. A letter that waits to be tried again takes no turn. */
  async publish(letter: DeadLetter, signal: AbortSignal): Promise<DeadLetterResult> {
    try {
      for (let failures = 0; !signal.aborted; ) {
        const result = await this.#inTurn(async () => (signal.aborted ? "aborted" : this.#attempt(letter, failures === 0, signal)));
        if (result !== "failed") return result;
        failures += 1;
        this.#failing.add(letter);
        this.#telemetry.count("dlq_errors_total");
        await pause(Math.max(leastPauseMs, this.#settings.waitMs(failures)), signal);
      }
      return "aborted";
    } finally {
      this.#failing.delete(letter);
    }
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** One attempt; only the first that fails is told of, the rest is counted and shown in health. */
  async #attempt(letter: DeadLetter, first: boolean, signal: AbortSignal): Promise<DeadLetterResult | "failed"> {
    const tell = (reason: string, fields: LogFields): void => {
      if (first) this.#telemetry.log("warn", reason, fields);
    };
    try {
      const known = this.#target !== null;
      if (!(await this.#resolve())) {
        tell("no stream captures the dead letter subject", { subject: this.#settings.subject });
        return "failed";
      }
      return await this.#place(letter, known, signal);
    } catch (error) {
      this.#target = null;
      tell("dead letter not published", { error: reasonOf(error) });
      return "failed";
    }
  }

  /** The stream and its limits; letters that ask at the same time share one look. Null when nothing captures the subject. */
  async #resolve(): Promise<Target | null> {
    if (this.#target !== null) return this.#target;
    this.#look ??= this.#lookUp().finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  async #lookUp(): Promise<Target | null> {
    const { subject, stream: expected, maxBytes } = this.#settings;
    const stream = expected ?? (await this.#port.streamOf(subject));
    if (stream === null) return null;
    const limits = await this.#port.limitsOf(stream);
    this.#target = { stream, limits: deadLetterLimits(this.#port.maxPayload(), limits, maxBytes) };
    return this.#target;
  }

  /** Stores the letter in the fullest form that the target takes; limits that were known before are read again first. */
  async #place(letter: DeadLetter, known: boolean, signal: AbortSignal): Promise<DeadLetterResult | "failed"> {
    let mayBeOld = known;
    for (;;) {
      const target = await this.#resolve();
      if (target === null) return "failed";
      const messages = letter.messages(target.limits);
      if (messages === null) {
        this.#target = null;
        if (!mayBeOld) return "too_large";
        mayBeOld = false;
        continue;
      }
      const result = await this.#storeAll(messages, target, signal);
      if (result !== "refused") return result;
      mayBeOld = false;
    }
  }

  /** Stores the messages in order; `refused` says that the limits were wrong and have been lowered. */
  async #storeAll(
    messages: readonly DeadLetterMessage[],
    target: Target,
    signal: AbortSignal,
  ): Promise<DeadLetterResult | "failed" | "refused"> {
    let first: Stored | null = null;
    for (const message of messages) {
      if (signal.aborted) return "aborted";
      try {
        const stored = await this.#store(message, target.stream);
        if (stored === null) return "failed";
        first ??= stored;
      } catch (error) {
        if (!isErrorKind(error, "SizePolicyViolationError")) throw error;
        const lower = Math.floor(Math.min(messageBytes(message), target.limits.messageBytes) / 2);
        this.#target = lower < leastMessageBytes ? null : { ...target, limits: { ...target.limits, messageBytes: lower } };
        return this.#target === null ? "too_large" : "refused";
      }
    }
    // A stream that discards its oldest messages may have lost the beginning of a long letter to its end.
    if (first === null || messages.length === 1) return "published";
    return (await this.#port.holds(target.stream, first.sequence, this.#settings.subject, first.id)) ? "published" : "failed";
  }

  /** A duplicate is believed only while the entry it names is still there (FW-DLQ-03). */
  async #store({ body, headers, id: given }: DeadLetterMessage, stream: string): Promise<Stored | null> {
    const { subject, domain } = this.#settings;
    for (let repeat = 0; repeat < 100; repeat += 1) {
      const id = repeat === 0 ? given : `${given}-r${repeat}`;
      const publication = await this.#port.publish(subject, body, headers, id);
      if (publication.stream !== stream || (domain !== null && publication.domain !== domain)) {
        this.#telemetry.log("warn", "dead letter acknowledged by another stream", {
          expected: placeName(stream, domain),
          actual: placeName(publication.stream, publication.domain),
        });
        this.#target = null;
        return null;
      }
      const { sequence } = publication;
      if (!publication.duplicate || (await this.#port.holds(stream, sequence, subject, id))) return { sequence, id };
    }
    return null;
  }

  #enter(): Promise<void> {
    if (this.#active < this.#settings.maxInFlight) {
      this.#active += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#queue.push(resolve));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#active -= 1;
    else next();
  }
}

/** Where a message of a letter stands. */
interface Stored {
  readonly sequence: number;
  readonly id: string;
}

function placeName(stream: string, domain: string | null): string {
  return domain === null ? stream : `${domain}:${stream}`;
}

/** Texts of our own may be shown; of a foreign error only its class. */
function reasonOf(error: unknown): string {
  if (isErrorKind(error, "SinksError")) return error.message;
  return error instanceof Error ? error.name : "unexpected";
}

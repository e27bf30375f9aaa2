import { isErrorKind } from "../error/errors.js";
import { pause } from "../source/pause.js";
import type { Publication } from "../source/publication.js";
import type { LogFields, Telemetry } from "../telemetry/port.js";
import { type BackoffPolicy, backoffDelay } from "./backoff.js";
import type { DeadLetter } from "./dead-letter-record.js";

/** What publishing a dead letter needs of the source. */
export interface DeadLetterPort {
  publish(subject: string, body: Uint8Array, headers: ReadonlyMap<string, string>, id: string): Promise<Publication>;
  /** The stream that captures the subject, or null. */
  streamOf(subject: string): Promise<string | null>;
  /** True when the stream holds an entry of this subject and id at this sequence. */
  holds(stream: string, sequence: number, subject: string, id: string): Promise<boolean>;
  /** Largest message the server takes, in bytes. */
  maxPayload(): number;
}

/** In the stream; given up because the process leaves; or larger than the server takes. */
export type DeadLetterResult = "published" | "aborted" | "too_large";

/** Bytes of a publication besides its body and its own headers: the id and the protocol's words. */
const protocolBytes = 512;

/** Where dead letters go. */
export interface DeadLetterSettings {
  readonly subject: string;
  /** The stream that must acknowledge; null is the one that captures the subject (FW-DLQ-01). */
  readonly stream: string | null;
  readonly maxInFlight: number;
  readonly backoff: BackoffPolicy;
}

/** A retry policy may say zero; the stream is not asked again at once for all that. */
const leastPauseMs = 50;

/**
 * Publishes dead letters, several at a time, again and again until the expected stream has acknowledged: the original
 * stays leased meanwhile and is settled only afterwards (FW-DLQ-01, FW-DLQ-06).
 */
export class DeadLetters {
  readonly #port: DeadLetterPort;
  readonly #settings: DeadLetterSettings;
  readonly #telemetry: Telemetry;
  readonly #random: () => number;
  readonly #queue: (() => void)[] = [];
  #stream: string | null;
  #active = 0;
  readonly #failing = new Set<DeadLetter>();

  constructor(port: DeadLetterPort, settings: DeadLetterSettings, telemetry: Telemetry, random: () => number) {
    this.#port = port;
    this.#settings = settings;
    this.#telemetry = telemetry;
    this.#random = random;
    this.#stream = settings.stream;
  }

  /** Letters whose publication has failed and is tried again. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Resolves when the letter is in the stream, or cannot get there. A letter that waits to be tried again takes no turn. */
  async publish(letter: DeadLetter, signal: AbortSignal): Promise<DeadLetterResult> {
    if (sizeOf(letter) > this.#port.maxPayload()) return "too_large";
    try {
      for (let failures = 0; !signal.aborted; ) {
        const result = await this.#inTurn(async () => (signal.aborted ? "aborted" : this.#attempt(letter, failures === 0)));
        if (result !== "failed") return result;
        failures += 1;
        this.#failing.add(letter);
        this.#telemetry.count("dlq_errors_total");
        await pause(Math.max(leastPauseMs, backoffDelay(this.#settings.backoff, failures, this.#random)), signal);
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
  async #attempt(letter: DeadLetter, first: boolean): Promise<"published" | "too_large" | "failed"> {
    const tell = (reason: string, fields: LogFields): void => {
      if (first) this.#telemetry.log("warn", reason, fields);
    };
    try {
      this.#stream ??= await this.#port.streamOf(this.#settings.subject);
      if (this.#stream === null) {
        tell("no stream captures the dead letter subject", { subject: this.#settings.subject });
        return "failed";
      }
      return (await this.#store(letter, this.#stream)) ? "published" : "failed";
    } catch (error) {
      this.#stream = this.#settings.stream;
      if (isErrorKind(error, "SizePolicyViolationError")) return "too_large";
      tell("dead letter not published", { error: reasonOf(error) });
      return "failed";
    }
  }

  /** A duplicate is believed only while the entry it names is still there (FW-DLQ-03). */
  async #store(letter: DeadLetter, stream: string): Promise<boolean> {
    const { subject } = this.#settings;
    for (let repeat = 0; repeat < 100; repeat += 1) {
      const id = repeat === 0 ? letter.id : `${letter.id}-r${repeat}`;
      const publication = await this.#port.publish(subject, letter.body, letter.headers, id);
      if (publication.stream !== stream) {
        this.#telemetry.log("warn", "dead letter acknowledged by another stream", { expected: stream, actual: publication.stream });
        this.#stream = this.#settings.stream;
        return false;
      }
      if (!publication.duplicate || (await this.#port.holds(stream, publication.sequence, subject, id))) return true;
    }
    return false;
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

/** Bytes of a letter as the server counts them; header values are ASCII by now. */
function sizeOf({ body, headers }: DeadLetter): number {
  let size = body.length + protocolBytes;
  for (const [name, value] of headers) size += name.length + value.length + 4;
  return size;
}

/** Texts of our own may be shown; of a foreign error only its class. */
function reasonOf(error: unknown): string {
  if (isErrorKind(error, "SinksError")) return error.message;
  return error instanceof Error ? error.name : "unexpected";
}

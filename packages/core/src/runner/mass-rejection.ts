const lastMessages = 1000;
const lastSeconds = 60;
/** Fewer messages say nothing about the rest. */
const leastMessages = 100;

interface Second {
  at: number;
  messages: number;
  rejected: number;
}

/**
 * The share of dead letters among the last 1000 messages and among those of the last 60 s (FW-DLQ-09). Above `maxRatio` in
 * either, of at least 100 messages, something is wrong with all of them. Its memory is constant.
 */
export class MassRejection {
  readonly #maxRatio: number;
  readonly #now: () => number;
  readonly #recent = new Uint8Array(lastMessages);
  readonly #seconds: Second[] = Array.from({ length: lastSeconds }, () => ({ at: Number.NEGATIVE_INFINITY, messages: 0, rejected: 0 }));
  #count = 0;
  #recentRejected = 0;

  /** `now` is monotonic, in ms. */
  constructor(maxRatio: number, now: () => number) {
    this.#maxRatio = maxRatio;
    this.#now = now;
  }

  /** Messages became durable. */
  stored(count: number): void {
    for (let left = Math.min(count, lastMessages); left > 0; left -= 1) this.#remember(0);
    this.#second().messages += count;
  }

  /** A message would become a dead letter. */
  rejected(): void {
    this.#remember(1);
    const second = this.#second();
    second.messages += 1;
    second.rejected += 1;
  }

  /** Why the pipeline must pause; null while the share is bearable. */
  reason(): string | null {
    const messages = Math.min(this.#count, lastMessages);
    return this.#judge(this.#recentRejected, messages, `last ${messages} messages`) ?? this.#judgeSeconds();
  }

  /** Begins anew, after a repair. */
  reset(): void {
    this.#recent.fill(0);
    this.#count = 0;
    this.#recentRejected = 0;
    for (const second of this.#seconds) second.at = Number.NEGATIVE_INFINITY;
  }

  #judgeSeconds(): string | null {
    const oldest = this.#secondNow() - lastSeconds;
    const counted = this.#seconds.filter(({ at }) => at > oldest);
    const messages = counted.reduce((sum, second) => sum + second.messages, 0);
    const rejected = counted.reduce((sum, second) => sum + second.rejected, 0);
    return this.#judge(rejected, messages, `${messages} messages of the last ${lastSeconds} s`);
  }

  #judge(rejected: number, messages: number, window: string): string | null {
    if (messages < leastMessages || rejected / messages <= this.#maxRatio) return null;
    return `mass_rejection: ${rejected} of the ${window} would be dead letters, more than dead_letter.max_ratio allows`;
  }

  #remember(rejected: 0 | 1): void {
    const place = this.#count % lastMessages;
    this.#recentRejected += rejected - (this.#recent[place] as number);
    this.#recent[place] = rejected;
    this.#count += 1;
  }

  #secondNow(): number {
    return Math.floor(this.#now() / 1000);
  }

  #second(): Second {
    const at = this.#secondNow();
    const second = this.#seconds[at % lastSeconds] as Second;
    if (second.at !== at) Object.assign(second, { at, messages: 0, rejected: 0 });
    return second;
  }
}

/** Text is encoded in pieces of about this many characters: small enough for the processor's cache, few enough calls. */
const pieceLength = 32_768;
/** UTF-8 takes at most three bytes for one unit of UTF-16. */
const bytesPerUnit = 3;

/** Collects lines as UTF-8 bytes; a batch of any size costs one growing buffer and no text of that size. */
export class LineBuffer {
  readonly #expected: number;
  #bytes = Buffer.allocUnsafe(0);
  #length = 0;
  #lines = 0;
  #text = "";

  /** `expected` is the number of lines to come, so that the buffer seldom has to grow. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  add(line: string): void {
    this.#lines += 1;
    this.#text += `${line}\n`;
    if (this.#text.length >= pieceLength) this.#encode();
  }

  /** All lines so far, as a view; nothing may be added afterwards. */
  bytes(): Buffer {
    this.#encode();
    return this.#bytes.subarray(0, this.#length);
  }

  #encode(): void {
    const needed = this.#length + this.#text.length * bytesPerUnit;
    if (needed > this.#bytes.length) {
      const length = this.#length + this.#text.length;
      // The lines so far are a sample of all lines; a tenth on top of it.
      const whole = Math.min(((length * this.#expected) / this.#lines) * 1.1, length * 64);
      const larger = Buffer.allocUnsafe(Math.ceil(Math.max(needed, whole)));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(this.#text, this.#length, "utf8");
    this.#text = "";
  }
}

const stored = 1;
const repeated = 2;
const deadLettered = 4;
const present = 8;
const absent = 16;
const accounted = stored | deadLettered;

/** What is known of every sequence between two: one byte each, so that no order of arrival costs more than another. */
export class SequenceMarks {
  readonly first: number;
  readonly last: number;
  readonly #marks: Uint8Array;

  constructor(first: number, last: number) {
    this.first = first;
    this.last = last;
    this.#marks = new Uint8Array(last - first + 1);
  }

  /** Bytes that are kept, however much is marked. */
  get bytes(): number {
    return this.#marks.byteLength;
  }

  /** Notes a record; a second one of the same sequence makes it a duplicate. */
  addStored(sequence: number): void {
    if (this.#holds(sequence)) this.#set(sequence, this.isStored(sequence) ? repeated : stored);
  }

  /** Notes a record found at a later look, which may have been seen before. */
  addStoredLater(sequence: number): void {
    if (this.#holds(sequence) && !this.isAccounted(sequence)) this.#set(sequence, stored);
  }

  addDeadLettered(sequence: number): void {
    if (this.#holds(sequence)) this.#set(sequence, deadLettered);
  }

  /** Notes that the stream holds the message; only of use for sequences that are not accounted for. */
  addPresent(sequence: number): void {
    if (this.#holds(sequence)) this.#set(sequence, present);
  }

  /** Notes whether a message that was in the stream at an earlier look is not any more. */
  setAbsent(sequence: number, isAbsent: boolean): void {
    if (!this.#holds(sequence)) return;
    const index = sequence - this.first;
    const mark = this.#marks[index] as number;
    this.#marks[index] = isAbsent ? mark | absent : mark & ~absent;
  }

  isStored(sequence: number): boolean {
    return this.#has(sequence, stored);
  }

  isDuplicate(sequence: number): boolean {
    return this.#has(sequence, repeated);
  }

  isAccounted(sequence: number): boolean {
    return this.#has(sequence, accounted);
  }

  isPresent(sequence: number): boolean {
    return this.#has(sequence, present);
  }

  wentAway(sequence: number): boolean {
    return this.#has(sequence, absent);
  }

  /** The first sequence from `from` on that is neither stored nor dead-lettered; null when there is none. */
  nextUnaccounted(from: number): number | null {
    const marks = this.#marks;
    for (let index = Math.max(from - this.first, 0); index < marks.length; index += 1) {
      if (((marks[index] as number) & accounted) === 0) return this.first + index;
    }
    return null;
  }

  #holds(sequence: number): boolean {
    return sequence >= this.first && sequence <= this.last;
  }

  #has(sequence: number, mark: number): boolean {
    return ((this.#marks[sequence - this.first] ?? 0) & mark) !== 0;
  }

  #set(sequence: number, mark: number): void {
    const index = sequence - this.first;
    this.#marks[index] = (this.#marks[index] as number) | mark;
  }
}

/** A stream or consumer sequence: a number while it is exact, a bigint beyond 2^53 (FW-ENV-05). One value has one form. */
export type SequenceNumber = number | bigint;

const zero = 48;
const nine = 57;
const exactDigits = 15;

/** Reads decimal digits of `text` from `start` to `end`; null when there is anything else. */
export function readSequence(text: string, start: number, end: number): SequenceNumber | null {
  if (end <= start) return null;
  if (end - start > exactDigits) return readLong(text.slice(start, end));
  let value = 0;
  for (let index = start; index < end; index += 1) {
    const digit = text.charCodeAt(index);
    if (digit < zero || digit > nine) return null;
    value = value * 10 + (digit - zero);
  }
  return value;
}

function readLong(digits: string): SequenceNumber | null {
  if (!/^\d+$/.test(digits)) return null;
  return toSequence(BigInt(digits));
}

/** Gives a bigint its one form as a sequence. */
function toSequence(value: bigint): SequenceNumber {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** The sequence after this one. */
export function nextSequence(sequence: SequenceNumber): SequenceNumber {
  if (typeof sequence === "number" && sequence < Number.MAX_SAFE_INTEGER) return sequence + 1;
  return toSequence(BigInt(sequence) + 1n);
}

/** The sequence before this one. */
export function previousSequence(sequence: SequenceNumber): SequenceNumber {
  return typeof sequence === "number" ? sequence - 1 : toSequence(sequence - 1n);
}

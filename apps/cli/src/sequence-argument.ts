import { UsageError } from "./usage-error.js";

/** Reads a sequence of a stream from the command line. */
export function parsedSequence(text: string): number {
  const sequence = Number(text);
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(sequence)) throw new UsageError("the sequence must be an integer from 1");
  return sequence;
}

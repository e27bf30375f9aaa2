import type { HeaderMap } from "../envelope/headers.js";

/** Sizes of the headers of one message, in bytes. */
export interface HeaderSizes {
  /** Header lines, each repetition of a name included. */
  readonly count: number;
  /** The longest name. */
  readonly name: number;
  /** The longest value, white space around it left out. */
  readonly value: number;
  /** All names and values together. */
  readonly total: number;
}

const carriageReturn = 13;
const lineFeed = 10;
const colon = 58;
const space = 32;
const tab = 9;

/** Measures a header block as it came over the wire, without decoding any of it; time linear in its size. */
export function headerBlockSizes(block: Uint8Array): HeaderSizes {
  const sizes = { count: 0, name: 0, value: 0, total: 0 };
  // The first line is the version.
  let start = lineEnd(block, 0);
  while (start < block.length) {
    start += 2;
    const end = lineEnd(block, start);
    if (end > start) addLine(sizes, block, start, end);
    start = end;
  }
  return sizes;
}

/** The same of headers that are there in parsed form only; repeated values then count as one, joined. */
export function headerMapSizes(headers: HeaderMap): HeaderSizes {
  const sizes = { count: headers.size + headers.dropped, name: 0, value: 0, total: 0 };
  for (const [name, value] of headers) add(sizes, Buffer.byteLength(name), Buffer.byteLength(value));
  return sizes;
}

type Sum = { -readonly [Key in keyof HeaderSizes]: HeaderSizes[Key] };

function lineEnd(block: Uint8Array, from: number): number {
  for (let at = block.indexOf(carriageReturn, from); at !== -1; at = block.indexOf(carriageReturn, at + 1)) {
    if (block[at + 1] === lineFeed) return at;
  }
  return block.length;
}

function addLine(sizes: Sum, block: Uint8Array, start: number, end: number): void {
  const found = block.indexOf(colon, start);
  const middle = found === -1 || found > end ? end : found;
  sizes.count += 1;
  add(sizes, trimmedLength(block, start, middle), trimmedLength(block, Math.min(middle + 1, end), end));
}

function add(sizes: Sum, name: number, value: number): void {
  sizes.name = Math.max(sizes.name, name);
  sizes.value = Math.max(sizes.value, value);
  sizes.total += name + value;
}

function trimmedLength(block: Uint8Array, start: number, end: number): number {
  let from = start;
  let to = end;
  while (from < to && isBlank(block[from])) from += 1;
  while (to > from && isBlank(block[to - 1])) to -= 1;
  return to - from;
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

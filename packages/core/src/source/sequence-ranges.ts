import { nextSequence, previousSequence, type SequenceNumber } from "./sequence.js";

/** Two sequences, both inclusive, the first not above the last. */
export type Range = readonly [first: SequenceNumber, last: SequenceNumber];

/** Sequences as ranges in rising order that neither overlap nor touch. */
export type SequenceRanges = readonly Range[];

/** Single sequences, in any order, as ranges. */
export function rangesOf(sequences: Iterable<SequenceNumber>): SequenceRanges {
  return joined([...sequences].sort(ascending).map((sequence) => [sequence, sequence]));
}

/** Every sequence of either side. */
export function unite(left: SequenceRanges, right: SequenceRanges): SequenceRanges {
  return joined([...left, ...right].sort((a, b) => ascending(a[0], b[0])));
}

/** The sequences of `ranges` that are not in `without`. */
export function subtract(ranges: SequenceRanges, without: SequenceRanges): SequenceRanges {
  const rest: Range[] = [];
  let at = 0;
  for (const [first, last] of ranges) {
    let from = first;
    while (at < without.length && (without[at] as Range)[1] < from) at += 1;
    for (let hole = at; hole < without.length && from <= last; hole += 1) {
      const [holeFirst, holeLast] = without[hole] as Range;
      if (holeFirst > last) break;
      if (holeFirst > from) rest.push([from, previousSequence(holeFirst)]);
      from = nextSequence(holeLast);
    }
    if (from <= last) rest.push([from, last]);
  }
  return rest;
}

/** True when a sequence is in one of the ranges; time logarithmic in their number. */
export function includes(ranges: SequenceRanges, sequence: SequenceNumber): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as Range)[1] < sequence) low = middle + 1;
    else high = middle;
  }
  return low < ranges.length && (ranges[low] as Range)[0] <= sequence;
}

/** Each sequence of the ranges, in rising order. */
export function* sequencesOf(ranges: SequenceRanges): Generator<SequenceNumber> {
  for (const [first, last] of ranges) for (let sequence = first; sequence <= last; sequence = nextSequence(sequence)) yield sequence;
}

function joined(sorted: readonly Range[]): SequenceRanges {
  const ranges: [SequenceNumber, SequenceNumber][] = [];
  for (const [first, last] of sorted) {
    const before = ranges.at(-1);
    if (before === undefined || first > nextSequence(before[1])) ranges.push([first, last]);
    else if (last > before[1]) before[1] = last;
  }
  return ranges;
}

function ascending(left: SequenceNumber, right: SequenceNumber): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

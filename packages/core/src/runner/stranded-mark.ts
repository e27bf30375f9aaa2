import { readSequence, type SequenceNumber } from "../source/sequence.js";
import { type Range, type SequenceRanges, subtract, unite } from "../source/sequence-ranges.js";

/** Messages that the server may never send again, as far as it is known (FW-RUN-21). */
export interface Stranded {
  /** Given up by the server for certain. */
  readonly certain: SequenceRanges;
  /** Perhaps among these; the rest was acknowledged. */
  readonly possible: SequenceRanges;
}

/** Nothing is stranded. */
export const nothingStranded: Stranded = Object.freeze({ certain: [], possible: [] });

/** Bytes of a mark: far below what a server takes (128 KiB), because every reading of the consumer carries it. */
const markBytes = 8192;
const possibly = "~";

interface Piece {
  readonly range: Range;
  readonly certain: boolean;
}

/**
 * Writes `17,20-31,~40-900`: ranges in rising order, behind `~` those that are only possible; null for nothing. What would be
 * longer than `bytes` is joined over its smallest gaps: it then names more messages than are stranded, and never fewer.
 */
export function writeMark(stranded: Stranded, bytes = markBytes): string | null {
  const pieces = piecesOf(stranded);
  const text = textOf(pieces);
  if (text.length <= bytes) return text === "" ? null : text;
  const [, highest] = (pieces.at(-1) as Piece).range;
  const longest = `${possibly}${highest}-${highest}`.length;
  return textOf(coarser(pieces, Math.max(1, Math.floor((bytes + 1) / (longest + 1)))));
}

/** Reads such a text; null for a text that is none, which somebody else has written there. */
export function readMark(text: string | null): Stranded | null {
  if (text === null || text === "") return nothingStranded;
  const certain: Range[] = [];
  const possible: Range[] = [];
  for (const piece of text.split(",")) {
    const range = readRange(piece.startsWith(possibly) ? piece.slice(possibly.length) : piece);
    if (range === null) return null;
    (piece.startsWith(possibly) ? possible : certain).push(range);
  }
  const known = unite(certain, []);
  return { certain: known, possible: subtract(unite(possible, []), known) };
}

function piecesOf({ certain, possible }: Stranded): readonly Piece[] {
  const pieces = certain.map((range): Piece => ({ range, certain: true }));
  for (const range of subtract(possible, certain)) pieces.push({ range, certain: false });
  return pieces.sort((left, right) => (left.range[0] < right.range[0] ? -1 : 1));
}

/** At most `count` pieces, joined over the smallest gaps between them. */
function coarser(pieces: readonly Piece[], count: number): readonly Piece[] {
  const gaps = pieces.slice(1).map(({ range }, index) => ({ index, size: Number(range[0]) - Number((pieces[index] as Piece).range[1]) }));
  gaps.sort((left, right) => left.size - right.size);
  const bridged = new Set(gaps.slice(0, pieces.length - count).map(({ index }) => index));
  const joined: Piece[] = [];
  for (const [index, piece] of pieces.entries()) {
    const before = joined.at(-1);
    if (before === undefined || !bridged.has(index - 1)) joined.push(piece);
    else joined[joined.length - 1] = { range: [before.range[0], piece.range[1]], certain: false };
  }
  return joined;
}

function textOf(pieces: readonly Piece[]): string {
  return pieces
    .map(({ range: [first, last], certain }) => `${certain ? "" : possibly}${first === last ? first : `${first}-${last}`}`)
    .join(",");
}

function readRange(text: string): Range | null {
  const dash = text.indexOf("-");
  const first = readPositive(text, 0, dash === -1 ? text.length : dash);
  const last = dash === -1 ? first : readPositive(text, dash + 1, text.length);
  return first === null || last === null || first > last ? null : [first, last];
}

function readPositive(text: string, start: number, end: number): SequenceNumber | null {
  const sequence = readSequence(text, start, end);
  return sequence === null || sequence <= 0 ? null : sequence;
}

/** Edit distance of two texts: insertions, deletions, substitutions and swaps of neighbours. */
export function editDistance(left: string, right: string): number {
  const width = right.length + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: width }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column < width; column += 1) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min((previous[column] as number) + 1, (current[column - 1] as number) + 1, (previous[column - 1] as number) + same);
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) best = Math.min(best, (beforePrevious[column - 2] as number) + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] as number;
}

/** The known name a misspelt one most likely means; null when none is near. The first of equals wins. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > 128) return null;
  const written = name.toLowerCase().replaceAll("-", "_");
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(written, candidate.toLowerCase());
    if (distance < least && distance <= Math.max(1, Math.floor(Math.max(written.length, candidate.length) / 3))) {
      best = candidate;
      least = distance;
    }
  }
  return (
    best ??
    known.find((candidate) => written.length >= 4 && (candidate.startsWith(`${written}_`) || candidate.endsWith(`_${written}`))) ??
    null
  );
}

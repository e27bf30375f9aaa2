/** Gives the sequence of the first message at or after a sequence; null when there is none. */
export type NextMessage = (sequence: number) => Promise<number | null>;

const widest = 64;

/**
 * Finds out which of many sequences hold a message, with few requests: an answer settles all sequences up to the message it
 * names. Requests run side by side as long as that brings news. `positions` gives the first sequence of interest from one on.
 */
export async function walkExisting(
  next: NextMessage,
  positions: (from: number) => number | null,
  found: (sequence: number) => void,
): Promise<void> {
  let width = 1;
  for (let start = positions(-Infinity); start !== null; ) {
    const asked: number[] = [];
    for (let at: number | null = start; at !== null && asked.length < width; at = positions(at + 1)) asked.push(at);
    const answers = await Promise.all(asked.map(next));
    let known = -Infinity;
    let useful = 0;
    for (const answer of answers) {
      if (answer === null) {
        known = Infinity;
        break;
      }
      if (answer <= known) continue;
      known = answer;
      useful += 1;
      found(answer);
    }
    if (known === Infinity) return;
    width = Math.min(widest, Math.max(1, useful * 2));
    start = positions(known + 1);
  }
}

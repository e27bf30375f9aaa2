/**
 * Compares two texts by their UTF-8 bytes (WO-GEN-19). That is the order of code points; UTF-16 units differ from it only
 * where a surrogate meets a unit above the surrogates.
 */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let position = 0; position < length; position += 1) {
    const a = left.charCodeAt(position);
    const b = right.charCodeAt(position);
    if (a !== b) return raised(a) - raised(b);
  }
  return left.length - right.length;
}

/** A surrogate stands for a code point above all others. */
function raised(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

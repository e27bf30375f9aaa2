/** What some destinations cannot hold inside otherwise valid JSON (FW-PAY-08). */
export interface JsonHazards {
  /** Some string holds U+0000. */
  readonly nul: boolean;
  /** Some string holds half of a surrogate pair, spelled as an escape. */
  readonly loneSurrogate: boolean;
}

const none: JsonHazards = Object.freeze({ nul: false, loneSurrogate: false });

/** Looks through a valid JSON text for what a destination may have to refuse; nothing is parsed or changed. */
export function findJsonHazards(text: string): JsonHazards {
  // Raw NUL is no JSON and raw halves are no UTF-8, so both can only stand there as escapes.
  if (!text.includes("\\u")) return none;
  let nul = false;
  let loneSurrogate = false;
  let highEnd = -1;
  for (const found of text.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/g)) {
    const unit = found[1] === undefined ? -1 : Number.parseInt(found[1], 16);
    const completes = highEnd === found.index && unit >= 0xdc00 && unit <= 0xdfff;
    if (highEnd !== -1 && !completes) loneSurrogate = true;
    highEnd = -1;
    if (unit === 0) nul = true;
    else if (unit >= 0xd800 && unit <= 0xdbff) highEnd = found.index + 6;
    else if (unit >= 0xdc00 && unit <= 0xdfff && !completes) loneSurrogate = true;
  }
  return { nul, loneSurrogate: loneSurrogate || highEnd !== -1 };
}

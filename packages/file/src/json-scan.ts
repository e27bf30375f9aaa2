/** White space between the tokens of JSON. */
export function isSpace(character: string | undefined): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}

/** The first position at or behind `from` that holds no white space. */
export function skipSpace(text: string, from: number): number {
  let position = from;
  while (isSpace(text[position])) position += 1;
  return position;
}

/** The position behind the string that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  let position = start + 1;
  while (text[position] !== '"') position += text[position] === "\\" ? 2 : 1;
  return position + 1;
}

/**
 * The text of a member of the outermost object, as it is spelled there, with the white space around it; null without such a
 * member. The input must be valid JSON.
 */
export function memberText(text: string, name: string): string | null {
  const key = JSON.stringify(name);
  let depth = 0;
  let isKey = false;
  let start: number | null = null;
  for (let position = 0; position < text.length; position += 1) {
    const character = text[position];
    if (character === '"') {
      const end = stringEnd(text, position);
      if (depth === 1 && isKey && text.slice(position, end) === key) start = text.indexOf(":", end) + 1;
      isKey = false;
      position = end - 1;
    } else if (character === "{" || character === "[") {
      depth += 1;
      isKey = depth === 1 && character === "{";
    } else if (character === "}" || character === "]" || character === ",") {
      if (depth === 1 && start !== null) return text.slice(start, position);
      if (character !== ",") depth -= 1;
      isKey = depth === 1 && character === ",";
    }
  }
  return null;
}

/** The same JSON document with no white space between tokens but what follows each comma and each colon. */
export function spaceJson(text: string, afterComma: string, afterColon: string): string {
  const pieces: string[] = [];
  let kept = 0;
  for (let position = 0; position < text.length; position += 1) {
    const character = text[position];
    if (character === '"') {
      position = stringEnd(text, position) - 1;
      continue;
    }
    const separator = character === "," ? `,${afterComma}` : character === ":" ? `:${afterColon}` : "";
    if (separator === "" && !isSpace(character)) continue;
    pieces.push(text.slice(kept, position), separator);
    kept = position + 1;
  }
  pieces.push(text.slice(kept));
  return pieces.join("");
}

import { isSpace, skipSpace, stringEnd } from "./json-scan.js";

/**
 * The same JSON document with one member or element per line, two spaces a level, or what `level` says. It moves white space only: numbers and
 * strings keep their spelling, which parsing and printing again would not promise (FW-PAY-06). The input must be valid JSON.
 */
export function indentJson(text: string, level = "  "): string {
  const pieces: string[] = [];
  let depth = 0;
  let position = 0;
  const line = () => `\n${level.repeat(depth)}`;
  while (position < text.length) {
    const character = text[position] as string;
    if (character === '"') {
      const end = stringEnd(text, position);
      pieces.push(text.slice(position, end));
      position = end;
      continue;
    }
    position += 1;
    if (character === "{" || character === "[") {
      const next = skipSpace(text, position);
      const empty = text[next] === (character === "{" ? "}" : "]");
      position = empty ? next + 1 : next;
      if (!empty) depth += 1;
      pieces.push(empty ? `${character}${text[next]}` : `${character}${line()}`);
    } else if (character === "}" || character === "]") {
      depth -= 1;
      pieces.push(`${line()}${character}`);
    } else if (character === ",") pieces.push(`,${line()}`);
    else if (character === ":") pieces.push(": ");
    else if (!isSpace(character)) pieces.push(character);
  }
  return pieces.join("");
}

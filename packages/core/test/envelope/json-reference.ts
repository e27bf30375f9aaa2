/**
 * A slow and obvious judge of strict JSON: `JSON.parse` for the grammar, then tokens by a regular expression for the names of
 * each object and for the depth.
 */
export function judgedByReference(text: string): boolean {
  let parsed = true;
  try {
    JSON.parse(text);
  } catch {
    parsed = false;
  }
  return parsed && distinctNames(text) && depthOf(text) <= 512;
}

/** Every string of a text that JSON.parse takes, with what follows it. */
function tokensOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/gs) ?? [];
}

function distinctNames(text: string): boolean {
  const open: (Set<string> | null)[] = [];
  const tokens = tokensOf(text);
  for (const [position, token] of tokens.entries()) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.startsWith('"') && tokens[position + 1] === ":") {
      const names = open.at(-1) as Set<string>;
      const name = JSON.parse(token) as string;
      if (names.has(name)) return false;
      names.add(name);
    }
  }
  return true;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const token of tokensOf(text)) {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** True when some number is an integer that a double holds but JSON text could not be trusted for. */
export function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeInteger);
}

/** A compiled subject pattern: `*` stands for one token, `>` at the end for one or more (FW-RTE-02). */
export interface SubjectPattern {
  readonly pattern: string;
  matches(subject: string): boolean;
}

/** Says what is wrong with a subject pattern; null when it is valid. */
export function subjectPatternFault(pattern: string): string | null {
  if (pattern === "") return "is empty";
  if (/[\0-\x20\x7f]/.test(pattern)) return "holds a space or a control character";
  const tokens = pattern.split(".");
  for (const [position, token] of tokens.entries()) {
    if (token === "") return "has an empty token";
    if (token === ">" && position !== tokens.length - 1) return 'has ">" before its end';
    if (token.length > 1 && /[*>]/.test(token)) return "has a wildcard inside a token";
  }
  return null;
}

/** Compiles a pattern once; throws `RangeError` when it is not a valid one. */
export function compileSubjectPattern(pattern: string): SubjectPattern {
  const fault = subjectPatternFault(pattern);
  if (fault !== null) throw new RangeError(`the subject pattern ${fault}`);
  return Object.freeze({ pattern, matches: matcher(pattern) });
}

function matcher(pattern: string): (subject: string) => boolean {
  if (pattern === ">") return (subject) => subject !== "";
  const tokens = pattern.split(".");
  const open = tokens[tokens.length - 1] === ">";
  const closed = open ? tokens.slice(0, -1) : tokens;
  if (!closed.includes("*")) {
    const prefix = `${closed.join(".")}.`;
    return open ? (subject) => subject.length > prefix.length && subject.startsWith(prefix) : (subject) => subject === pattern;
  }
  return (subject) => matchesTokens(closed, open, subject);
}

/** Walks the subject token by token; nothing is split or allocated. */
function matchesTokens(tokens: readonly string[], open: boolean, subject: string): boolean {
  let start = 0;
  for (const token of tokens) {
    if (start > subject.length) return false;
    const dot = subject.indexOf(".", start);
    const end = dot === -1 ? subject.length : dot;
    const same = token === "*" ? end > start : end - start === token.length && subject.startsWith(token, start);
    if (!same) return false;
    start = end + 1;
  }
  return open ? start < subject.length : start === subject.length + 1;
}

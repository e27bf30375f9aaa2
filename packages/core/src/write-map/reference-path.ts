/** A reference in a rule, taken apart (FW-MAP-02). */
export interface ReferencePath {
  /** As configured, for errors. */
  readonly text: string;
  readonly root: RootName;
  /** What follows the root, unescaped. */
  readonly segments: readonly string[];
  /** True for `:path?`: null stands for what is missing (FW-MAP-04). */
  readonly optional: boolean;
}

/** `none`: nothing may follow the root. `one`: exactly one segment does. `any`: a path into a value. */
const roots = {
  payload: "any",
  payload_json: "any",
  text: "none",
  subject: "none",
  subject_token: "one",
  header: "one",
  stream: "none",
  stream_sequence: "none",
  message_id: "none",
  idempotency_key: "none",
  priority: "none",
  classification: "none",
  labels: "any",
  mission: "any",
  timestamp: "none",
  timestamp_ns: "none",
  received_at: "none",
  delivery_count: "none",
  metadata: "any",
  item: "any",
  index: "none",
} as const;

/** What a reference can begin with. */
export type RootName = keyof typeof roots;

/** Roots that have a meaning for the elements of `each` only. */
const elementRoots: ReadonlySet<string> = new Set<RootName>(["item", "index"]);
const headerName = /^[!-9;-~]+$/;
const arrayIndex = /^(?:0|[1-9][0-9]{0,8})$/;

/** True for a string of a rule that stands for something else: it begins with one colon; `::x` is the text `:x`. */
export function isReference(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(":") && !value.startsWith("::");
}

/** The text that a string of a rule is when it is no reference: `::x` is `:x` (FW-MAP-03). */
export function literalText(value: string): string {
  return value.startsWith("::") ? value.slice(1) : value;
}

/** Place in an array that a segment names; null when it names none. */
export function indexOf(segment: string): number | null {
  return arrayIndex.test(segment) ? Number(segment) : null;
}

/** Takes a reference apart; says what is wrong with it when it is none. `underEach` admits `:item` and `:index`. */
export function parseReference(text: string, underEach: boolean): ReferencePath | { readonly fault: string } {
  const optional = /(?:^|[^\\])(?:\\\\)*\?$/.test(text);
  const parts = splitPath(text.slice(1, optional ? -1 : undefined));
  if (parts === null) return { fault: "has a backslash before something other than a dot, a question mark or a backslash" };
  const [root = "", ...segments] = parts;
  if (!Object.hasOwn(roots, root)) return { fault: `refers to ${JSON.stringify(root)}, which is none of ${Object.keys(roots).join(", ")}` };
  if (segments.includes("")) return { fault: "has an empty part between its dots" };
  if (elementRoots.has(root) && !underEach) return { fault: `refers to ${root}, which only a rule with each has` };
  const fault = segmentsFault(root as RootName, segments);
  return fault === null ? { text, root: root as RootName, segments, optional } : { fault };
}

function segmentsFault(root: RootName, segments: readonly string[]): string | null {
  const rule = roots[root];
  if (rule === "none" && segments.length > 0) return `goes below ${root}, which has nothing below it`;
  if (rule === "one" && segments.length !== 1) return `needs exactly one part after ${root} (a dot inside a part is written \\.)`;
  const [segment = ""] = segments;
  if (root === "subject_token" && (indexOf(segment) ?? 0) < 1) return "needs the number of a token after subject_token, from 1";
  if (root === "header" && !headerName.test(segment)) return "needs the name of a header after header";
  return null;
}

/** The parts between dots; `\.`, `\?` and `\\` are the characters themselves. Null for any other backslash. */
function splitPath(text: string): string[] | null {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === "\\") {
      at += 1;
      const escaped = text[at] ?? "";
      if (escaped === "" || !".?\\".includes(escaped)) return null;
      part += escaped;
    } else if (character === ".") {
      parts.push(part);
      part = "";
    } else part += character;
  }
  parts.push(part);
  return parts;
}

import { subjectPatternFault } from "../envelope/subject-pattern.js";

/** True when the text is a subject: tokens between dots, `*` and `>` only as whole tokens, `>` only last. */
export function isSubject(text: string): boolean {
  return text.length <= 4096 && subjectPatternFault(text) === null;
}

/** True when the subject has no wildcard. */
export function isLiteralSubject(text: string): boolean {
  return isSubject(text) && !text.split(".").some((token) => token === "*" || token === ">");
}

/** True when every subject matched by `inner` is matched by `outer`. */
export function subjectContains(outer: string, inner: string): boolean {
  const wide = outer.split(".");
  const narrow = inner.split(".");
  for (let index = 0; index < wide.length; index += 1) {
    const token = wide[index];
    const other = narrow[index];
    if (other === undefined) return false;
    if (token === ">") return true;
    if (other === ">") return false;
    if (token !== "*" && token !== other) return false;
  }
  return wide.length === narrow.length;
}

/** True when some subject is matched by both. */
export function subjectsOverlap(left: string, right: string): boolean {
  const one = left.split(".");
  const two = right.split(".");
  for (let index = 0; index < Math.max(one.length, two.length); index += 1) {
    const a = one[index];
    const b = two[index];
    if (a === undefined || b === undefined) return false;
    if (a === ">" || b === ">") return true;
    if (a !== "*" && b !== "*" && a !== b) return false;
  }
  return true;
}

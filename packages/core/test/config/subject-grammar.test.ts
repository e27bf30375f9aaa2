import { expect, test } from "vitest";
import { isLiteralSubject, isSubject, subjectContains, subjectsOverlap } from "../../src/config/subject-grammar.js";
import { compileSubjectPattern } from "../../src/envelope/subject-pattern.js";

function sequences(tokens: readonly string[], longest: number): string[][] {
  if (longest === 0) return [[]];
  const shorter = sequences(tokens, longest - 1);
  return [...shorter, ...shorter.filter((each) => each.length === longest - 1).flatMap((each) => tokens.map((token) => [...each, token]))];
}

/** Every pattern of up to three tokens over two letters, and every subject of up to four tokens over three. */
const patterns = sequences(["a", "b", "*", ">"], 3)
  .map((tokens) => tokens.join("."))
  .filter(isSubject);
const subjects = sequences(["a", "b", "c"], 4)
  .filter((tokens) => tokens.length > 0)
  .map((tokens) => tokens.join("."));
const matched = new Map(
  patterns.map((pattern) => [pattern, new Set(subjects.filter((subject) => compileSubjectPattern(pattern).matches(subject)))]),
);

test("FW-CFG-08 containment and overlap are what matching says, for every pair of short patterns", () => {
  expect(patterns.length).toBeGreaterThan(50);
  for (const left of patterns) {
    for (const right of patterns) {
      const one = matched.get(left) as Set<string>;
      const two = matched.get(right) as Set<string>;
      const contained = [...two].every((subject) => one.has(subject));
      const overlapping = [...two].some((subject) => one.has(subject));
      if (subjectContains(left, right) !== contained) expect.fail(`${left} contains ${right}: expected ${contained}`);
      if (subjectsOverlap(left, right) !== overlapping) expect.fail(`${left} overlaps ${right}: expected ${overlapping}`);
    }
  }
});

test("FW-CFG-10 a literal subject has no wildcard", () => {
  expect(["a", "a.b", "a.*", "a.>", ">", "", "a..b"].map(isLiteralSubject)).toEqual([true, true, false, false, false, false, false]);
});

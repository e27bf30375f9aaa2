import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSubjectPattern, subjectPatternFault } from "../../src/envelope/subject-pattern.js";

const matches = (pattern: string, subject: string) => compileSubjectPattern(pattern).matches(subject);

/** The rule of NATS, token by token. */
function matchesByReference(pattern: string, subject: string): boolean {
  const tokens = pattern.split(".");
  const parts = subject.split(".");
  for (const [position, token] of tokens.entries()) {
    if (token === ">") return parts.length > position;
    if (parts[position] === undefined || (token !== "*" && token !== parts[position])) return false;
  }
  return parts.length === tokens.length;
}

describe("subject patterns", () => {
  test.each([
    ["a.b", "a.b", true],
    ["a.b", "a.bc", false],
    ["a.b", "a.b.c", false],
    ["a.*", "a.b", true],
    ["a.*", "a", false],
    ["a.*", "a.b.c", false],
    ["*.b", "a.b", true],
    ["*.b.*", "a.b.c", true],
    ["a.>", "a.b", true],
    ["a.>", "a.b.c.d", true],
    ["a.>", "a", false],
    ["a.>", "ab.c", false],
    ["*.>", "a.b", true],
    ["*.>", "a", false],
    [">", "a", true],
    [">", "a.b.c", true],
  ])("FW-META-05 %s and %s: %s", (pattern, subject, expected) => expect(matches(pattern, subject)).toBe(expected));

  test.each(["", ".", "a.", ".a", "a..b", "a.>.b", ">.a", "a b", "a\tb", "a\u0000", "a*", "a.b>", "**"])(
    "FW-META-05 %j is no pattern",
    (pattern) => {
      expect(subjectPatternFault(pattern)).not.toBeNull();
      expect(() => compileSubjectPattern(pattern)).toThrow(RangeError);
    },
  );

  test("FW-META-05 matching agrees with a reference (property)", () => {
    const token = fc.constantFrom("a", "b", "ab", "*");
    const pattern = fc
      .tuple(fc.array(token, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([tokens, open]) => [...tokens, ...(open ? [">"] : [])].join("."));
    const subject = fc.array(fc.constantFrom("a", "b", "ab", "ba"), { minLength: 1, maxLength: 5 }).map((tokens) => tokens.join("."));
    fc.assert(
      fc.property(pattern, subject, (each, other) => {
        expect([each, other, matches(each, other)]).toEqual([each, other, matchesByReference(each, other)]);
      }),
      { numRuns: 2000 },
    );
  });
});

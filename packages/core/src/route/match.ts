import type { z } from "zod";
import type { matchSchema } from "../config/match-schema.js";
import type { Envelope } from "../envelope/envelope.js";
import { foldHeaderName } from "../envelope/headers.js";
import { compileSubjectPattern } from "../envelope/subject-pattern.js";

/** Criteria of a match as configured. */
export type MatchCriteria = z.output<typeof matchSchema>;

/** Answers whether a message is meant. */
export type Match = (envelope: Envelope) => boolean;

/**
 * Compiles criteria once (FW-RTE-01, FW-RTE-02): all of them must hold. Values are compared exactly; names of headers ignore
 * case. Headers and metadata of a message are read only when a criterion asks for them.
 */
export function compileMatch(criteria: MatchCriteria): Match {
  const tests = [...subjectTests(criteria), ...valueTests(criteria), ...labelTests(criteria), ...headerTests(criteria)];
  const [only] = tests;
  if (tests.length === 1 && only !== undefined) return only;
  return (envelope) => tests.every((test) => test(envelope));
}

function subjectTests({ subject }: MatchCriteria): Match[] {
  if (subject === undefined) return [];
  const { matches } = compileSubjectPattern(subject);
  return [(envelope) => matches(envelope.subject)];
}

function valueTests({ priority, classification }: MatchCriteria): Match[] {
  return (
    [
      ["priority", priority],
      ["classification", classification],
    ] as const
  ).flatMap(([name, values]) => {
    if (values === undefined) return [];
    const allowed: ReadonlySet<string | null> = new Set(values);
    return [(envelope: Envelope) => allowed.has(envelope[name])];
  });
}

function labelTests({ labels_all: all, labels_any: any, labels_none: none }: MatchCriteria): Match[] {
  const tests: Match[] = [];
  if (all !== undefined) tests.push(({ labels }) => all.every((label) => labels.includes(label)));
  if (any !== undefined) tests.push(({ labels }) => any.some((label) => labels.includes(label)));
  if (none !== undefined) tests.push(({ labels }) => !none.some((label) => labels.includes(label)));
  return tests;
}

function headerTests({ headers = [] }: MatchCriteria): Match[] {
  return headers.map(({ name, values }) => {
    const folded = foldHeaderName(name);
    const allowed: ReadonlySet<string | undefined> = new Set(values);
    return ({ headers: given }) => allowed.has(given.getFolded(folded));
  });
}

import { matchSchema } from "../config/match-schema.js";
import { isPlainRecord } from "../config/plain-record.js";
import { compileMatch, type Match } from "../route/match.js";
import { createWriteMap, type WriteMap } from "./apply.js";
import { compileEach, type Elements } from "./each.js";
import { compileOperation } from "./operation.js";
import type { Reader } from "./reference.js";
import type { Scope } from "./template.js";
import type { DeclaredTexts, RuleFault, WriteVocabulary } from "./vocabulary.js";

/** What the three keys of a write map hold after validation. */
export interface WriteMapSettings {
  readonly write: readonly Readonly<Record<string, unknown>>[];
  readonly write_mode: "all" | "first";
  readonly no_write_match: "reject" | "ignore";
}

/** What is known of a rule besides its payloads. The same object for all payloads of a rule. */
export interface WriteRule {
  /** Place in `write`, from 0. */
  readonly index: number;
  readonly operation: string;
  /**
   * True when the message chose the destination or the names in it: one reference stands for a whole mapping, or a token of
   * the subject for the destination. What is wrong with such a name is the message's fault (WO-ERR-05).
   */
  readonly namesFromMessage: boolean;
}

/** @internal A rule ready to be applied. */
export interface CompiledRule {
  readonly rule: WriteRule;
  /** Null: every message. */
  readonly matches: Match | null;
  /** Null: one payload per message. */
  readonly each: Elements | null;
  readonly payload: Reader;
}

/** Everything that is wrong with a write map, each with its path from the options on; or the map. */
export type CompiledWriteMap = { readonly faults: readonly RuleFault[] } | { readonly map: WriteMap };

/** Compiles a write map once, at start; everything that is wrong with it is found, all of it together (FW-MAP-07). */
export function compileWriteMap(settings: WriteMapSettings, vocabulary: WriteVocabulary, declared: DeclaredTexts = {}): CompiledWriteMap {
  const faults: RuleFault[] = [];
  const rules = settings.write.flatMap((rule, index) => {
    const path = ["write", index] as const;
    const report = (fault: RuleFault) => faults.push({ ...fault, path: [...path, ...fault.path] });
    if (isPlainRecord(rule)) return compileRule(rule, index, vocabulary, declared, report);
    report({ path: [], message: "must be a mapping", ofSchema: true });
    return [];
  });
  return faults.length > 0 ? { faults } : { map: createWriteMap(rules, settings) };
}

function compileRule(
  settings: Readonly<Record<string, unknown>>,
  index: number,
  vocabulary: WriteVocabulary,
  declared: DeclaredTexts,
  report: (fault: RuleFault) => void,
): CompiledRule[] {
  const { when, each, op, ...fields } = settings;
  const operation = op ?? vocabulary.defaultOperation;
  if (typeof operation !== "string" || !Object.hasOwn(vocabulary.operations, operation)) {
    report({ path: ["op"], message: `must be one of ${Object.keys(vocabulary.operations).join(", ")}`, ofSchema: true });
    return [];
  }
  const scope: Scope = { rule: ["write", index], underEach: each !== undefined, report };
  const criteria = when === undefined ? null : matchSchema.safeParse(when);
  if (criteria?.success === false) report({ path: ["when"], message: "is no match", ofSchema: true });
  const { payload, namesFromMessage } = compileOperation(operation, fields, vocabulary, declared, scope);
  return [
    {
      rule: Object.freeze({ index, operation, namesFromMessage }),
      matches: criteria?.data === undefined ? null : compileMatch(criteria.data),
      each: each === undefined ? null : compileEach(each, scope),
      payload,
    },
  ];
}

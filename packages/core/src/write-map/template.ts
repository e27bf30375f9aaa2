import { pathText } from "../config/faults.js";
import { isPlainRecord } from "../config/plain-record.js";
import { type JsonValue, setMember } from "../envelope/json.js";
import { freezeJson } from "../envelope/json-reader.js";
import { compileReference, type Reader } from "./reference.js";
import { isReference, literalText, parseReference } from "./reference-path.js";
import { rejection } from "./rejection.js";
import type { RuleFault } from "./vocabulary.js";

/** Where a value of a rule stands, and what may be said there. */
export interface Scope {
  /** `["write", 1]`: the way to the rule, for errors. */
  readonly rule: readonly (string | number)[];
  /** True where `:item` and `:index` have a meaning. */
  readonly underEach: boolean;
  /** Takes what is wrong, with its path below the rule. */
  readonly report: (fault: RuleFault) => void;
}

/** A compiled value: the same for every message, or read from each. */
export type Template = { readonly constant: true; readonly value: unknown } | { readonly constant: false; readonly read: Reader };

type Path = readonly (string | number)[];

/** Compiles a value of a rule whose strings may be references at any depth (FW-MAP-02, FW-MAP-03). */
export function compileTemplate(value: unknown, path: Path, scope: Scope): Template {
  if (typeof value === "string") return isReference(value) ? referenceTemplate(value, path, scope) : constant(literalText(value));
  if (Array.isArray(value)) return listTemplate(value, path, scope);
  if (isPlainRecord(value)) return recordTemplate(Object.entries(value), path, scope);
  const fault = literalFault(value);
  if (fault !== null) scope.report({ path, message: fault });
  return constant(value);
}

/** Compiles a mapping from its members, names as they are. */
function recordTemplate(members: readonly (readonly [string, unknown])[], path: Path, scope: Scope): Template {
  return joinRecord(members.map(([name, value]) => [name, compileTemplate(value, [...path, name], scope)] as const));
}

/** A mapping of compiled values. */
export function joinRecord(members: readonly (readonly [string, Template])[]): Template {
  // Every member has its place from the start, so that all records of a rule have one form and `__proto__` is a plain name.
  const base: Record<string, unknown> = {};
  for (const [name, member] of members) setMember(base, name, member.constant ? member.value : null);
  const variable = members.flatMap(([name, member]) => (member.constant ? [] : [{ name, read: member.read }]));
  if (variable.length === 0) return constant(Object.freeze(base));
  const names = variable.map(({ name }) => name);
  const readers = variable.map(({ read }) => read);
  return {
    constant: false,
    read: (envelope, item, index) => {
      const record = { ...base };
      for (let at = 0; at < names.length; at += 1) record[names[at] as string] = (readers[at] as Reader)(envelope, item, index);
      return record;
    },
  };
}

function listTemplate(values: readonly unknown[], path: Path, scope: Scope): Template {
  const elements = values.map((value, at) => compileTemplate(value, [...path, at], scope));
  if (elements.every((element) => element.constant)) {
    return constant(Object.freeze(elements.map((element) => (element.constant ? element.value : null))));
  }
  return {
    constant: false,
    read: (envelope, item, index) => elements.map((element) => (element.constant ? element.value : element.read(envelope, item, index))),
  };
}

/** Compiles one reference; what is missing rejects the message, or is null where the reference says so (FW-MAP-04). */
export function referenceTemplate(text: string, path: Path, scope: Scope): Template {
  const reference = parseReference(text, scope.underEach);
  if ("fault" in reference) {
    scope.report({ path, message: `the reference ${reference.fault}` });
    return constant(null);
  }
  const read = compileReference(reference);
  if (reference.optional) return { constant: false, read: (envelope, item, index) => handOn(read(envelope, item, index)) ?? null };
  const place = pathText([...scope.rule, ...path]);
  return {
    constant: false,
    read: (envelope, item, index) => {
      const value = read(envelope, item, index);
      if (value === undefined) throw rejection(envelope, place, `${text} is missing`, "reference_missing");
      return handOn(value);
    },
  };
}

/** Nothing that leaves here can be used to change what other readers of the message see. */
function handOn(value: unknown): unknown {
  return typeof value === "object" ? freezeJson(value as JsonValue) : value;
}

function constant(value: unknown): Template {
  return { constant: true, value };
}

function literalFault(value: unknown): string | null {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return "an integer beyond 2^53 loses digits here; write it in quotes";
  }
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return "is no value";
  return null;
}

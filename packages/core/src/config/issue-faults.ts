import type { z } from "zod";
import { describeExpected } from "../option/describe.js";
import { secretMarks } from "../option/secret.js";
import { type ConfigurationFault, fault, faultLine, pathText } from "./faults.js";
import { nearestName } from "./nearest-name.js";
import { markOf } from "./schema-mark.js";
import { objectShape, schemaAt } from "./schema-walk.js";

type Issue = z.core.$ZodIssue;

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as Record<PropertyKey, unknown>)[key];
  }, root);
}

function elsewhere(schema: z.core.$ZodType, key: string): string | null {
  for (const [section, member] of Object.entries(objectShape(schema) ?? {})) {
    const shape = objectShape(member);
    if (shape !== null && Object.hasOwn(shape, key)) return `${section}.${key}`;
  }
  return null;
}

/** The fault of a key that the schema does not know, with the name that was most likely meant. */
export function unknownKeyFault(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
  key: string,
  prefix: readonly PropertyKey[] = [],
): ConfigurationFault {
  const owner = schemaAt(schema, path);
  const known = owner === null ? [] : Object.keys(objectShape(owner) ?? {});
  const near = nearestName(key, known);
  const other = near === null ? elsewhere(schema, key) : null;
  const remedy = near !== null ? `did you mean "${near}"?` : other !== null ? `did you mean "${other}"?` : "remove it";
  return fault(pathText([...prefix, ...path, key]), "unknown key", remedy);
}

function unionIssues(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] | null {
  const branches = issue.errors.filter(
    (errors) => errors.length > 0 && !(errors[0]?.code === "invalid_type" && errors[0].path.length === 0),
  );
  const [only] = branches;
  return branches.length === 1 && only !== undefined ? only : null;
}

const tooSmall: Readonly<Record<string, string>> = { string: "too short", array: "too few entries" };
const tooBig: Readonly<Record<string, string>> = { string: "too long", array: "too many entries" };

function rule(issue: Issue, missing: boolean, secret: boolean): string {
  if (missing) return "required key is missing";
  switch (issue.code) {
    case "invalid_type":
      return "wrong type";
    case "too_small":
      return tooSmall[issue.origin] ?? "too small";
    case "too_big":
      return tooBig[issue.origin] ?? "too large";
    case "invalid_value":
      return "not an allowed value";
    case "invalid_format":
    case "custom":
      return secret && issue.code === "custom" ? "breaks a rule" : issue.message;
    case "invalid_key":
      return `wrong name: ${issue.issues[0]?.message ?? "breaks a rule"}`;
    case "invalid_union":
      return "wrong type";
    default:
      return "breaks a rule";
  }
}

function faultsOf(issue: Issue, schema: z.core.$ZodType, input: unknown, prefix: readonly PropertyKey[]): readonly ConfigurationFault[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKeyFault(schema, issue.path, key, prefix));
  const inner = issue.code === "invalid_union" ? unionIssues(issue) : null;
  if (inner !== null) return inner.flatMap((each) => faultsOf({ ...each, path: [...issue.path, ...each.path] }, schema, input, prefix));
  const target = schemaAt(schema, issue.path);
  // A rule of its own says more of what is missing than the schema could.
  const missing = issue.code !== "custom" && issue.path.length > 0 && valueAt(input, issue.path) === undefined;
  const secret = target !== null && markOf(target, secretMarks.secret) !== undefined;
  const kindMatters = missing || !["custom", "invalid_format", "invalid_key"].includes(issue.code);
  const remedy = kindMatters && target !== null ? `expected ${describeExpected(target)}` : null;
  return [fault(pathText([...prefix, ...issue.path]) || "configuration", rule(issue, missing, secret), remedy)];
}

/**
 * Turns what zod found into faults: path, rule, expected kind, and the nearest name of an unknown key. Received values
 * never appear (FW-CFG-03). `prefix` stands before each path, for schemas that describe a part of a configuration.
 */
export function issueFaults(
  issues: readonly Issue[],
  schema: z.core.$ZodType,
  input: unknown,
  prefix: readonly PropertyKey[] = [],
): ConfigurationFault[] {
  const faults = issues.flatMap((issue) => faultsOf(issue, schema, input, prefix));
  // Two rules of zod may say the same of one value.
  return [...new Map(faults.map((found) => [faultLine(found), found])).values()];
}

import { isPlainRecord } from "../config/plain-record.js";
import { compareUtf8 } from "../envelope/utf8-order.js";
import { compileChoice, compileField } from "./fields.js";
import type { Reader } from "./reference.js";
import { isReference } from "./reference-path.js";
import { joinRecord, type Scope, type Template } from "./template.js";
import { type DeclaredTexts, fieldsOf, type RuleFault, type WriteField, type WriteOperation, type WriteVocabulary } from "./vocabulary.js";

type Fields = Readonly<Record<string, unknown>>;

/** An operation of a rule, compiled. */
export interface CompiledOperation {
  readonly payload: Reader;
  readonly namesFromMessage: boolean;
}

/** Compiles the fields of a rule by its operation; the payload has them under their API names (camelCase). */
export function compileOperation(
  name: string,
  given: Fields,
  vocabulary: WriteVocabulary,
  declared: DeclaredTexts,
  scope: Scope,
): CompiledOperation {
  const operation = vocabulary.operations[name] as WriteOperation;
  const fields = fieldsOf(operation);
  const kept = keepsFieldContract(name, given, operation, vocabulary, scope);
  const members: (readonly [string, Template])[] = [["op", { constant: true, value: name }]];
  let namesFromMessage = false;
  for (const [key, field] of Object.entries(fields)) {
    const value = given[key];
    const choice = field.chosenBy === undefined ? undefined : given[field.chosenBy];
    if (choice !== undefined && field.chosenBy !== undefined) {
      members.push([apiName(key), compileChoice(field.chosenBy, choice, scope)]);
      namesFromMessage = true;
    } else if (value !== undefined && value !== null) {
      members.push([apiName(key), compileField(key, field, value, scope)]);
      if (field.kind === "record" && isReference(value)) namesFromMessage = true;
    }
    if (field.declares !== undefined && typeof value === "string") reportUndeclared(key, field, value, given, declared, scope);
  }
  // A connector judges what has the fields of its operation; anything else it would only report again.
  if (kept) for (const fault of vocabulary.check?.(name, given) ?? []) scope.report(fault);
  const payload = joinRecord(members);
  return { payload: payload.constant ? () => payload.value : payload.read, namesFromMessage };
}

/** Reports required fields that are missing and fields that are not used (WO-GEN-07); true when there is none. */
function keepsFieldContract(name: string, given: Fields, operation: WriteOperation, vocabulary: WriteVocabulary, scope: Scope): boolean {
  const own = choosable(operation);
  let kept = true;
  const report = (fault: RuleFault): void => {
    kept = false;
    scope.report(fault);
  };
  for (const [key, field] of Object.entries(operation.required)) {
    const { chosenBy } = field;
    if (chosenBy !== undefined && given[chosenBy] !== undefined) {
      if (given[key] !== undefined) report({ path: [chosenBy], message: `excludes ${key}` });
    } else if (isMissing(given[key], field)) {
      report({ path: [key], message: `${name} requires ${key}${chosenBy === undefined ? "" : ` or ${chosenBy}`}` });
    }
  }
  const known = new Set(Object.values(vocabulary.operations).flatMap((each) => [...choosable(each)]));
  for (const key of Object.keys(given)) {
    if (given[key] === undefined || own.has(key)) continue;
    report({ path: [key], message: `${name} does not use ${key}`, ...(known.has(key) ? {} : { ofSchema: true }) });
  }
  return kept;
}

function choosable(operation: WriteOperation): ReadonlySet<string> {
  const fields = fieldsOf(operation);
  return new Set([...Object.keys(fields), ...Object.values(fields).flatMap(({ chosenBy }) => chosenBy ?? [])]);
}

function isMissing(value: unknown, { mayBeEmpty }: WriteField): boolean {
  if (value === undefined) return true;
  if (mayBeEmpty === true) return false;
  if (value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isPlainRecord(value) && Object.keys(value).length === 0;
}

/** A text that is not declared, and params that are not those of the text. */
function reportUndeclared(key: string, field: WriteField, name: string, given: Fields, declared: DeclaredTexts, scope: Scope): void {
  const texts = declared[key];
  if (texts === undefined) return;
  const params = texts.get(name);
  if (params === undefined) {
    const names = [...texts.keys()].sort(compareUtf8);
    scope.report({ path: [key], message: `is not declared; declared are ${names.length === 0 ? "<none configured>" : names.join(", ")}` });
    return;
  }
  const paramsKey = field.declares?.params ?? null;
  if (params === null || paramsKey === null) return;
  const value = given[paramsKey] ?? {};
  if (!isPlainRecord(value)) return;
  const missing = params.filter((param) => !Object.hasOwn(value, param)).sort(compareUtf8);
  const unexpected = Object.keys(value)
    .filter((param) => !params.includes(param))
    .sort(compareUtf8);
  const parts = [
    ...(missing.length > 0 ? [`${name} needs ${missing.join(", ")}`] : []),
    ...(unexpected.length > 0 ? [`${name} does not take ${unexpected.join(", ")}`] : []),
  ];
  if (parts.length > 0) scope.report({ path: [paramsKey], message: parts.join("; ") });
}

/** `update_columns` as code calls it: `updateColumns`. */
function apiName(field: string): string {
  return field.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

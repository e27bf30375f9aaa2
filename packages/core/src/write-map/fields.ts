import { pathText } from "../config/faults.js";
import { isPlainRecord } from "../config/plain-record.js";
import { compileDestinationChoice, destinationChoice } from "./destination-choice.js";
import { isReference, literalText } from "./reference-path.js";
import { rejection } from "./rejection.js";
import { compileTemplate, referenceTemplate, type Scope, type Template } from "./template.js";
import type { WriteField } from "./vocabulary.js";

/** Compiles one field of an operation by what may stand in it. */
export function compileField(name: string, field: WriteField, value: unknown, scope: Scope): Template {
  if (field.kind === "literal") return { constant: true, value: literalField(value, [name], scope) };
  if (field.kind === "value") return compileTemplate(value, [name], scope);
  if (isReference(value) && field.wholeReference === true) return wholeReference(name, field, value, scope);
  const isOfKind = field.kind === "record" ? isPlainRecord(value) : Array.isArray(value);
  if (!isOfKind) scope.report({ path: [name], message: `must be a ${kindName(field)}`, ofSchema: true });
  return compileTemplate(isOfKind ? value : null, [name], scope);
}

function kindName({ kind }: WriteField): string {
  return kind === "record" ? "mapping" : "list";
}

/** Names of tables, columns and statements come from the configuration alone (WO-GEN-03). */
function literalField(value: unknown, path: readonly (string | number)[], scope: Scope): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((entry, at) => literalField(entry, [...path, at], scope)));
  if (typeof value !== "string") return value;
  if (isReference(value)) scope.report({ path, message: "must be written out; a reference cannot stand here" });
  return literalText(value);
}

/** A field that is one reference: it must give the mapping or the list that the operation needs (FW-MAP-03). */
function wholeReference(name: string, { kind }: WriteField, text: string, scope: Scope): Template {
  const template = referenceTemplate(text, [name], scope);
  if (template.constant) return template;
  const { read } = template;
  const isOfKind: (value: unknown) => boolean = kind === "record" ? isPlainRecord : Array.isArray;
  const place = pathText([...scope.rule, name]);
  return {
    constant: false,
    read: (envelope, item, index) => {
      const value = read(envelope, item, index);
      if (isOfKind(value)) return value;
      throw rejection(envelope, place, `${text} is not ${kind === "record" ? "an object" : "a list"}`, "reference_kind");
    },
  };
}

/** A destination that a token of the subject names (WO-ENV-06). */
export function compileChoice(name: string, value: unknown, scope: Scope): Template {
  const choice = destinationChoice.safeParse(value);
  if (!choice.success) {
    scope.report({ path: [name], message: "is no choice of a destination", ofSchema: true });
    return { constant: true, value: null };
  }
  const choose = compileDestinationChoice(choice.data);
  const place = pathText([...scope.rule, name]);
  return {
    constant: false,
    read: (envelope) => {
      const chosen = choose(envelope.subject);
      if (chosen !== null) return chosen;
      throw rejection(envelope, place, `token ${choice.data.token} of the subject is not in allow`, "destination_not_allowed");
    },
  };
}

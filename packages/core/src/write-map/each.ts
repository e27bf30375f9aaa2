import { pathText } from "../config/faults.js";
import type { Envelope } from "../envelope/envelope.js";
import { compileReference } from "./reference.js";
import { isReference, parseReference } from "./reference-path.js";
import { rejection } from "./rejection.js";
import type { Scope } from "./template.js";

/** Gives the elements that a rule makes one payload of each. */
export type Elements = (envelope: Envelope) => readonly unknown[];

const none: readonly unknown[] = Object.freeze([]);

/** Compiles `each` (FW-MAP-06): a reference to a list; with `?` a missing list, or null, has no elements. */
export function compileEach(each: unknown, scope: Scope): Elements {
  const report = (message: string) => scope.report({ path: ["each"], message });
  if (!isReference(each)) {
    report("must be a reference to a list, such as :payload.lines");
    return () => none;
  }
  const reference = parseReference(each, false);
  if ("fault" in reference) {
    report(`the reference ${reference.fault}`);
    return () => none;
  }
  const read = compileReference(reference);
  const place = pathText([...scope.rule, "each"]);
  return (envelope) => {
    const list = read(envelope, undefined, 0);
    if (Array.isArray(list)) return list;
    if (reference.optional && (list === undefined || list === null)) return none;
    if (list === undefined) throw rejection(envelope, place, `${each} is missing`, "reference_missing");
    throw rejection(envelope, place, `${each} is not a list`, "reference_kind");
  };
}

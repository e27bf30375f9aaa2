import type { z } from "zod";
import { secretMarks } from "../option/secret.js";
import { type ConfigurationFault, fault, pathText } from "./faults.js";
import { markOf } from "./schema-mark.js";
import { memberSchema, objectShape, unwrap } from "./schema-walk.js";

/** One key that names the variable of a secret, with the record it was found in. */
interface SecretPair {
  /** Path of the record that holds both keys. */
  readonly path: readonly PropertyKey[];
  readonly owner: Readonly<Record<string, unknown>>;
  readonly secretKey: string;
  readonly variableKey: string;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every pair `x` and `x_env` of a value, found by the marks of its schema (FW-CFG-04). */
function secretPairs(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[] = []): SecretPair[] {
  if (Array.isArray(value)) {
    const item = memberSchema(schema, 0);
    return item === null ? [] : value.flatMap((entry, index) => secretPairs(item, entry, [...path, index]));
  }
  if (!isRecord(value)) return [];
  const shape = objectShape(schema) ?? {};
  const own = Object.entries(shape).flatMap(([key, member]) => {
    const secretKey = markOf(member, secretMarks.variable);
    return typeof secretKey === "string" ? [{ path, owner: value, secretKey, variableKey: key }] : [];
  });
  const inner = Object.entries(value).flatMap(([key, entry]) => {
    const member = memberSchema(unwrap(schema), key);
    return member === null ? [] : secretPairs(member, entry, [...path, key]);
  });
  return [...own, ...inner];
}

/** A fault for each secret that is given both inline and by variable. */
export function secretPairFaults(schema: z.core.$ZodType, value: unknown, prefix: readonly PropertyKey[] = []): ConfigurationFault[] {
  const isGiven = (entry: unknown) => entry !== undefined && entry !== null;
  return secretPairs(schema, value)
    .filter(({ owner, secretKey, variableKey }) => isGiven(owner[secretKey]) && isGiven(owner[variableKey]))
    .map(({ path, secretKey, variableKey }) =>
      fault(pathText([...prefix, ...path, secretKey]), `must not stand beside ${variableKey}`, `keep one of the two, best ${variableKey}`),
    );
}

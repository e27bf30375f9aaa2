import type { z } from "zod";
import { isSecret, Secret, secretMarks } from "../option/secret.js";
import { type ConfigurationFault, fault, faultsError, pathText } from "./faults.js";
import { isPlainRecord } from "./plain-record.js";
import type { Configuration } from "./schema.js";
import { configurationSections } from "./schema.js";
import { markOf } from "./schema-mark.js";
import { memberSchema, objectShape } from "./schema-walk.js";

type Environment = Readonly<Record<string, string | undefined>>;

class Resolver {
  readonly #environment: Environment;
  readonly faults: ConfigurationFault[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  resolve(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]): unknown {
    if (Array.isArray(value)) return value.map((item, index) => this.#member(schema, item, index, path));
    if (!isPlainRecord(value)) return value;
    const result = new Map(Object.entries(value).map(([key, entry]) => [key, this.#member(schema, entry, key, path)]));
    for (const [key, member] of Object.entries(objectShape(schema) ?? {})) {
      const secretKey = markOf(member, secretMarks.variable);
      const name = result.get(key);
      if (typeof secretKey === "string" && typeof name === "string") result.set(secretKey, this.#read(name, [...path, key]));
      if (markOf(member, secretMarks.headers) !== undefined) {
        const variables = result.get(`${key}_env`);
        if (isPlainRecord(variables))
          result.set(key, { ...(result.get(key) as object), ...this.#readAll(variables, [...path, `${key}_env`]) });
      }
    }
    return Object.fromEntries(result);
  }

  #member(schema: z.core.$ZodType, value: unknown, key: PropertyKey, path: readonly PropertyKey[]): unknown {
    const member = memberSchema(schema, key);
    return member === null || isSecret(value) ? value : this.resolve(member, value, [...path, key]);
  }

  #readAll(variables: Readonly<Record<string, unknown>>, path: readonly PropertyKey[]): Record<string, Secret | null> {
    return Object.fromEntries(Object.entries(variables).map(([header, name]) => [header, this.#read(String(name), [...path, header])]));
  }

  #read(name: string, path: readonly PropertyKey[]): Secret | null {
    const text = this.#environment[name];
    if (text !== undefined && text.trim() !== "") return new Secret(text);
    const state = text === undefined ? "is not set" : "is blank";
    this.faults.push(fault(pathText(path), `the environment variable ${name} ${state}`, "set it to the secret", "secret_missing"));
    return null;
  }
}

/**
 * Fills every secret that is named by a variable, found by the marks of the schema. Throws one `ConfigurationError`, code
 * `secret_missing`, that names each variable that is unset or blank and its key.
 */
export function resolveMarkedSecrets<Value>(
  schema: z.core.$ZodType,
  value: Value,
  environment: Environment,
  prefix: readonly PropertyKey[] = [],
): Value {
  const resolver = new Resolver(environment);
  const resolved = resolver.resolve(schema, value, prefix) as Value;
  if (resolver.faults.length > 0) throw faultsError(resolver.faults);
  return resolved;
}

/** A configuration with its secrets read from the environment; the names stay beside them. Options of the sink are not touched. */
export function resolveSecrets(configuration: Configuration, environment: Environment): Configuration {
  return resolveMarkedSecrets(configurationSections, configuration, environment);
}

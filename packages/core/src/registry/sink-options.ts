import type { z } from "zod";
import { type ConfigurationFault, fault, faultsError, pathText } from "../config/faults.js";
import { issueFaults, unknownKeyFault } from "../config/issue-faults.js";
import { convertText } from "../config/override-text.js";
import { isPlainRecord } from "../config/plain-record.js";
import { resolveMarkedSecrets } from "../config/resolve-secrets.js";
import type { Configuration } from "../config/schema.js";
import { definitionOf, objectShape, schemaAt } from "../config/schema-walk.js";
import { secretPairFaults } from "../config/secret-pairs.js";
import { isUntypedText } from "../config/untyped-text.js";
import type { Connector } from "../connector/define-connector.js";

const prefix = ["sink"];

interface Typed {
  readonly value: unknown;
  readonly faults: readonly ConfigurationFault[];
}

function withTypes(schema: z.core.$ZodType, value: unknown, path: readonly string[] = []): Typed {
  if (isUntypedText(value)) {
    const target = schemaAt(schema, path);
    const result = target === null ? { value: value.reveal() } : convertText(value.reveal(), target);
    if ("value" in result) return { value: result.value, faults: [] };
    return {
      value: undefined,
      faults: [fault(pathText([...prefix, ...path]), `the override ${value.source} ${result.fault}`, "correct or remove it")],
    };
  }
  if (!isPlainRecord(value)) return { value, faults: [] };
  const entries = Object.entries(value).map(([key, entry]) => [key, withTypes(schema, entry, [...path, key])] as const);
  return {
    value: Object.fromEntries(entries.map(([key, typed]) => [key, typed.value])),
    faults: entries.flatMap(([, typed]) => typed.faults),
  };
}

function unknownKeys(schema: z.ZodObject, value: Readonly<Record<string, unknown>>): ConfigurationFault[] {
  if (definitionOf(schema)["catchall"] !== undefined) return [];
  const shape = objectShape(schema) ?? {};
  return Object.keys(value)
    .filter((key) => !Object.hasOwn(shape, key))
    .map((key) => unknownKeyFault(schema, [], key, prefix));
}

/** Everything that a connector finds wrong with the keys of a raw `sink` section, and its options when nothing is. */
export function checkSinkOptions<Options extends z.ZodObject>(
  sink: Readonly<Record<string, unknown>>,
  connector: Connector<Options>,
): { readonly faults: readonly ConfigurationFault[]; readonly options: z.output<Options> | null } {
  const { type: _, ...rest } = sink;
  const typed = withTypes(connector.options, rest);
  const value = typed.value as Readonly<Record<string, unknown>>;
  const parsed = connector.options.safeParse(value);
  const faults = [
    ...typed.faults,
    ...unknownKeys(connector.options, value),
    ...(parsed.success || typed.faults.length > 0 ? [] : issueFaults(parsed.error.issues, connector.options, value, prefix)),
    ...secretPairFaults(connector.options, value, prefix),
  ];
  return { faults, options: parsed.success && faults.length === 0 ? (parsed.data as z.output<Options>) : null };
}

/**
 * Validates the keys of `configuration.sink` by the connector's own schema and gives its options, defaults filled. With
 * an environment, secrets named by variables are read too. Throws one `ConfigurationError` that lists every fault.
 */
export function resolveSinkOptions<Options extends z.ZodObject>(
  configuration: Pick<Configuration, "sink">,
  connector: Connector<Options>,
  environment?: Readonly<Record<string, string | undefined>>,
): z.output<Options> {
  const { faults, options } = checkSinkOptions(configuration.sink, connector);
  if (options === null) throw faultsError(faults);
  return environment === undefined ? options : resolveMarkedSecrets(connector.options, options, environment, prefix);
}

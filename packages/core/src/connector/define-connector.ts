import type { z } from "zod";
import { ConfigurationError } from "../error/errors.js";
import type { Telemetry } from "../telemetry/port.js";
import type { Sink } from "./sink.js";

const brand: unique symbol = Symbol.for("sinks.connector") as never;
const statuses: readonly ConnectorStatus[] = ["production", "experimental", "planned", "third_party"];

/** How far a connector has come. */
export type ConnectorStatus = "production" | "experimental" | "planned" | "third_party";

/** What a connector's factory may use besides its options. */
export interface ConnectorServices {
  readonly telemetry: Telemetry;
  /** Wall clock, ns since the Unix epoch. */
  readonly nowNs: () => bigint;
  /** Directory against which relative paths of the configuration are resolved. */
  readonly workingDirectory: string;
}

/** How long the pipeline lets one write take. */
export interface WriteBudget {
  /** `delivery.in_progress.max_lease_ms`: a write that takes longer is given up. */
  readonly writeMs: number;
}

/** What an author states about a connector (FW-REG-01). */
export interface ConnectorDefinition<Options extends z.ZodObject> {
  /** `^[a-z][a-z0-9_-]{0,63}$`; the word after `type:` in a configuration. */
  readonly name: string;
  readonly apiVersion: "1";
  /** One sentence, up to 500 characters. */
  readonly summary: string;
  readonly status?: ConnectorStatus;
  /** Needs certification evidence. */
  readonly productionReady?: boolean;
  /** Where the manual is, up to 255 characters. */
  readonly documentation?: string;
  /** Passing evidence by certification group, each up to 255 characters. */
  readonly certification?: readonly string[];
  /** The one source of types, defaults, validation, JSON Schema and reference text. */
  readonly options: Options;
  /** What valid options should be told, one line each, beginning with the key: `write[0]: …`. Shown by `validate` and at start. */
  notices?(options: z.output<Options>, budget: WriteBudget): readonly string[];
  /** Makes a sink; no I/O happens before its `start`. */
  create(options: z.output<Options>, services: ConnectorServices): Sink;
}

/** A published descriptor, recognised by brand. */
export interface Connector<Options extends z.ZodObject = z.ZodObject> extends Required<ConnectorDefinition<Options>> {}

function definitionFaults(definition: ConnectorDefinition<z.ZodObject>): string[] {
  const { name, summary, status, productionReady, documentation, certification, options } = definition;
  const text = (value: unknown, maximum: number) => typeof value === "string" && value.trim() !== "" && value.length <= maximum;
  const rules: readonly (readonly [boolean, string])[] = [
    [typeof name === "string" && /^[a-z][a-z0-9_-]{0,63}$/.test(name), "`name` must match ^[a-z][a-z0-9_-]{0,63}$"],
    [definition.apiVersion === "1", '`apiVersion` must be "1"'],
    [text(summary, 500), "`summary` must be text of up to 500 characters"],
    [status === undefined || statuses.includes(status), `\`status\` must be one of ${statuses.join(", ")}`],
    [productionReady === undefined || typeof productionReady === "boolean", "`productionReady` must be true or false"],
    [
      documentation === undefined || documentation === "" || text(documentation, 255),
      "`documentation` must be text of up to 255 characters",
    ],
    [
      certification === undefined || (Array.isArray(certification) && certification.every((entry) => text(entry, 255))),
      "`certification` must be a list of texts of up to 255 characters",
    ],
    [
      productionReady !== true || (Array.isArray(certification) && certification.length > 0),
      "`productionReady` needs `certification` evidence",
    ],
    [isObjectSchema(options), "`options` must be a zod object schema"],
    [definition.notices === undefined || typeof definition.notices === "function", "`notices` must be a function"],
    [typeof definition.create === "function", "`create` must be a function"],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}

function isObjectSchema(value: unknown): boolean {
  const definition = (value as { _zod?: { def?: { type?: unknown } } } | null | undefined)?._zod?.def;
  return definition?.type === "object";
}

/**
 * Makes a connector's descriptor (FW-REG-01): a frozen value, recognised by brand across installed copies. A definition
 * that breaks the descriptor contract throws `ConfigurationError`, code `connector_invalid`.
 */
export function defineConnector<Options extends z.ZodObject>(definition: ConnectorDefinition<Options>): Connector<Options> {
  const faults = definitionFaults(definition);
  if (faults.length > 0) {
    const name = typeof definition.name === "string" ? JSON.stringify(definition.name.slice(0, 80)) : "without a name";
    throw new ConfigurationError(`connector ${name}: ${faults.join("; ")}`, { code: "connector_invalid" });
  }
  const connector: Connector<Options> = {
    name: definition.name,
    apiVersion: definition.apiVersion,
    summary: definition.summary,
    status: definition.status ?? "third_party",
    productionReady: definition.productionReady ?? false,
    documentation: definition.documentation ?? "",
    certification: Object.freeze([...(definition.certification ?? [])]),
    options: definition.options,
    notices: (options, budget) => definition.notices?.(options, budget) ?? [],
    create: (options, services) => definition.create(options, services),
  };
  Object.defineProperty(connector, brand, { value: true, enumerable: false });
  return Object.freeze(connector);
}

/** True for a descriptor made by `defineConnector`, also of another installed copy of this package. */
export function isConnector(value: unknown): value is Connector {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}

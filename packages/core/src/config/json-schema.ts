import { z } from "zod";
import type { Connector } from "../connector/define-connector.js";
import { secretMarks } from "../option/secret.js";
import { configurationSections } from "./schema.js";

/** A JSON Schema, draft 2020-12, of a section or key. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly [key: string]: unknown;
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
    override: ({ jsonSchema }) => {
      if (jsonSchema[secretMarks.secret] === true) jsonSchema["writeOnly"] = true;
    },
  }) as JsonSchema;
}

/** JSON Schema of one connector's options. */
export function connectorJsonSchema(connector: Connector): JsonSchema {
  const schema = toJsonSchema(connector.options);
  return { ...schema, title: connector.name, description: connector.summary };
}

function sinkOf(connector: Connector): JsonSchema {
  const { $schema: _, properties, required, ...rest } = connectorJsonSchema(connector);
  const type: JsonSchema = { const: connector.name, description: `Connector ${connector.name}.` };
  return { ...rest, properties: { type, ...properties }, required: ["type", ...(required ?? [])] };
}

/** JSON Schema of a whole configuration for editors; the sink is one of the connectors given, or of any type when there are none. */
export function configurationJsonSchema(connectors: readonly Connector[]): JsonSchema {
  const schema = toJsonSchema(configurationSections);
  const sink = schema.properties?.["sink"];
  if (connectors.length === 0 || sink === undefined) return schema;
  const known: JsonSchema = { ...(sink.description === undefined ? {} : { description: sink.description }), oneOf: connectors.map(sinkOf) };
  return { ...schema, title: "sinks configuration", properties: { ...schema.properties, sink: known } };
}

import type { z } from "zod";
import { isSecret, secretMarks } from "../option/secret.js";
import { isPlainRecord } from "./plain-record.js";
import { type Configuration, configurationSections } from "./schema.js";
import { markOf } from "./schema-mark.js";
import { memberSchema } from "./schema-walk.js";
import { isUntypedText } from "./untyped-text.js";

const hidden = "[redacted]";

function redact(schema: z.core.$ZodType | null, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (isSecret(value) || (schema !== null && markOf(schema, secretMarks.secret) !== undefined)) return hidden;
  if (isUntypedText(value)) return value.toString();
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map((item, index) => redact(schema === null ? null : memberSchema(schema, index), item));
  if (!isPlainRecord(value)) return value;
  const headers = schema !== null && markOf(schema, secretMarks.headers) !== undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      headers ? hidden : redact(schema === null ? null : memberSchema(schema, key), entry),
    ]),
  );
}

function sinkKeys(sink: Configuration["sink"], shown: ShownSink | null): Record<string, unknown> {
  if (shown !== null) return { type: sink.type, ...(redact(shown.schema, shown.options) as object) };
  return Object.fromEntries(
    Object.entries(sink).map(([key, value]) => [key, key === "type" ? value : "[not shown: the connector is not known]"]),
  );
}

/** The sink's options as its connector gave them, with the schema whose marks say what is secret. */
export interface ShownSink {
  readonly schema: z.ZodObject;
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * The effective configuration as it may be shown (FW-CFG-04): names of variables kept, secrets redacted by the mark of
 * their schema. Without the sink's schema nothing of the sink but its type is shown. Plain JSON values only.
 */
export function redactedConfiguration(configuration: Configuration, sink: ShownSink | null): Readonly<Record<string, unknown>> {
  const sections = redact(configurationSections, configuration) as Record<string, unknown>;
  return { ...sections, sink: sinkKeys(configuration.sink, sink), sinks: Object.keys(configuration.sinks).length === 0 ? {} : hidden };
}

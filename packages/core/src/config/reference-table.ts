import { describeKind, type KindSchema } from "../option/describe.js";
import { derivedDefaultMark } from "./derived-default.js";
import type { JsonSchema } from "./json-schema.js";

/** One row of a reference table. */
export interface ReferenceRow {
  readonly key: string;
  readonly kind: string;
  /** The default in words or as JSON; `required` when there is none and the key must be given; empty when it may be absent. */
  readonly standard: string;
  readonly description: string;
}

function objectOf(schema: JsonSchema): JsonSchema | null {
  if (schema.properties !== undefined) return schema;
  const branches = (schema.anyOf ?? []).filter((branch) => branch.type !== "null");
  const [only] = branches;
  return branches.length === 1 && only?.properties !== undefined ? only : null;
}

function standardOf(schema: JsonSchema, required: boolean): string {
  const derived = schema[derivedDefaultMark];
  if (typeof derived === "string") return derived;
  if (required) return "required";
  if (schema.default === undefined) return "";
  const text = JSON.stringify(schema.default);
  return text.length > 80 ? `a list of ${(schema.default as unknown[]).length}` : `\`${text}\``;
}

/** Rows for the keys of a section, nested keys as `outer.inner`, keys of list items as `list[].key`. */
export function referenceRows(section: JsonSchema, prefix = ""): ReferenceRow[] {
  return Object.entries(section.properties ?? {}).flatMap(([name, schema]) => {
    const key = `${prefix}${name}`;
    const nested = objectOf(schema);
    const item = schema.items === undefined ? null : objectOf(schema.items);
    const required = section.required?.includes(name) ?? false;
    if (nested !== null) return referenceRows(nested, `${key}.`);
    const row = {
      key,
      kind: describeKind(schema as KindSchema),
      standard: standardOf(schema, required),
      description: schema.description ?? "",
    };
    return item === null ? [row] : [row, ...referenceRows(item, `${key}[].`)];
  });
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** A Markdown table of the keys of a section. */
export function referenceTable(section: JsonSchema): string {
  const rows = referenceRows(section).map(
    ({ key, kind, standard, description }) => `| \`${key}\` | ${cell(standard)} | ${cell(kind)} | ${cell(description)} |`,
  );
  return ["| key | default | value | meaning |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

import { stringify } from "yaml";
import type { Connector } from "../connector/define-connector.js";
import { derivedDefaultMark } from "./derived-default.js";
import { configurationJsonSchema, connectorJsonSchema, type JsonSchema } from "./json-schema.js";
import { laterFeatures } from "./later-features.js";
import { starterMark } from "./starter-mark.js";

const shownSections = ["consumer_management", "delivery", "dead_letter", "idempotency", "message_metadata", "logging"];
const withoutEffect = new Set([
  "delivery.prefer_safe_duplication",
  "delivery.ack_confirmation.unsupported_action",
  "logging.payload_logging",
]);
const later = new Set(laterFeatures.filter(({ asked }) => asked === "true" || asked === "any value").map(({ path }) => path.join(".")));

function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, collectionStyle: "flow" }).trim();
}

function isLater(path: string): boolean {
  return later.has(path) || later.has(`${path}.enabled`) || withoutEffect.has(path);
}

function exampleOf(schema: JsonSchema): unknown {
  const [example] = (schema["examples"] as readonly unknown[] | undefined) ?? [];
  if (example !== undefined) return example;
  if (schema.default !== undefined) return schema.default;
  const [choice] = schema.enum ?? [];
  if (choice !== undefined) return choice;
  if (schema.type === "integer" || schema.type === "number") return schema["minimum"] ?? 1;
  if (schema.type === "boolean") return true;
  if (schema.type === "array") return [];
  return schema.type === "object" ? {} : "change-me";
}

/** One key as YAML: what it means, and the lines that set it, not indented. */
interface KeyBlock {
  readonly notes: readonly string[];
  readonly lines: readonly string[];
  readonly active: boolean;
}

function keyBlock(name: string, schema: JsonSchema, required: boolean, path: string): KeyBlock | null {
  const notes = [schema.description ?? ""];
  if (schema.properties !== undefined) return { notes, lines: [`${name}:`, ...indented(plainLines(schema, path))], active: false };
  const starter = schema[starterMark];
  const derived = schema[derivedDefaultMark];
  if (typeof derived === "string") notes.push(`Default: ${derived}.`);
  // A key without default has nothing to show unless it must be given.
  if (!required && starter === undefined && schema.default === undefined) return null;
  return { notes, lines: [`${name}: ${yamlText(starter ?? exampleOf(schema))}`], active: required || starter !== undefined };
}

function keyBlocks(section: JsonSchema, path: string): KeyBlock[] {
  return Object.entries(section.properties ?? {}).flatMap(([name, schema]) => {
    const key = `${path}.${name}`;
    const block = isLater(key) ? null : keyBlock(name, schema, section.required?.includes(name) ?? false, key);
    return block === null ? [] : [block];
  });
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function commented(lines: readonly string[]): string[] {
  return lines.map((line) => `# ${line}`);
}

function plainLines(section: JsonSchema, path: string): string[] {
  return keyBlocks(section, path).flatMap(({ notes, lines }) => [...commented(notes), ...lines]);
}

function activeSection(name: string, schema: JsonSchema, first: readonly string[] = []): string {
  const keys = keyBlocks(schema, name).flatMap(({ notes, lines, active }) => [...commented(notes), ...(active ? lines : commented(lines))]);
  return [...commented([schema.description ?? ""]), `${name}:`, ...indented([...first, ...keys])].join("\n");
}

function commentedSection(name: string, schema: JsonSchema): string {
  return commented([schema.description ?? "", `${name}:`, ...indented(plainLines(schema, name))]).join("\n");
}

/**
 * A commented starter configuration in YAML for a connector (`sinks init`): required keys active, every other key
 * commented out with its default and its meaning. It is valid as it stands once the marked values are changed.
 */
export function starterConfiguration(connector: Connector): string {
  const sections = configurationJsonSchema([]).properties ?? {};
  const nats = sections["nats"] as JsonSchema;
  const sink: JsonSchema = { ...connectorJsonSchema(connector), description: `Where messages are stored. ${connector.summary}` };
  const rest = shownSections.map((name) => commentedSection(name, sections[name] as JsonSchema));
  const head = [
    "# Configuration of a sinks pipeline.",
    "# Keys that are commented out show their defaults: remove the `# ` before a key, and before the name of its section, to set it.",
  ].join("\n");
  return `${[head, activeSection("nats", nats), activeSection("sink", sink, [`type: ${connector.name}`]), ...rest].join("\n\n")}\n`;
}

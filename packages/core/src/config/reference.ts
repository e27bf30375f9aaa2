import type { Connector } from "../connector/define-connector.js";
import { errorCodes } from "../error/codes.js";
import { pathText } from "./faults.js";
import { configurationJsonSchema, connectorJsonSchema, type JsonSchema } from "./json-schema.js";
import { laterFeatures } from "./later-features.js";
import { namedOverrides } from "./override-names.js";
import { referenceTable } from "./reference-table.js";

const generated = "<!-- Generated from the schemas; do not edit. -->";

function sectionText(name: string, schema: JsonSchema): string {
  const description = schema.description ?? "";
  if (schema.properties === undefined) return `## \`${name}\`\n\n${description}`;
  return `## \`${name}\`\n\n${description}\n\n${referenceTable(schema)}`;
}

function connectorText(connector: Connector): string {
  return `### Connector \`${connector.name}\`\n\n${connector.summary}\n\n${referenceTable(connectorJsonSchema(connector))}`;
}

function overridesText(): string {
  const rows = [...namedOverrides].map(([name, path]) => `| \`${name}\` | \`${path.join(".")}\` |`);
  const intro =
    "A variable overrides the key of the file, `--set section.key=value` overrides both. Any scalar key has the variable `SINKS__<SECTION>__<KEY>`; these names are kept besides:";
  return ["## Environment overrides", "", intro, "", "| variable | key |", "| --- | --- |", ...rows].join("\n");
}

function laterText(): string {
  const intro =
    "These keys are checked, but asking for their feature is refused (`not_supported`), because it is not part of this release:";
  return [
    "## Features of later releases",
    "",
    intro,
    "",
    "| key | refused value |",
    "| --- | --- |",
    ...laterFeatures.map(({ path, asked }) => `| \`${pathText(path)}\` | ${asked} |`),
  ].join("\n");
}

/** The reference of every key as Markdown: sections, options of the connectors given, overrides, later features. */
export function configurationReference(connectors: readonly Connector[]): string {
  const sections = Object.entries(configurationJsonSchema([]).properties ?? {});
  const order = (name: string) => (name === "sink" ? [...connectors].map(connectorText) : []);
  const parts = [
    generated,
    "# Configuration reference",
    "Every key of a configuration with its default, the value it takes and what it means. A key is written `section.key`; unknown keys are refused. The guide is [configuration](../guides/configuration.md).",
    ...sections.flatMap(([name, schema]) => [sectionText(name, schema), ...order(name)]),
    overridesText(),
    laterText(),
  ];
  return `${parts.join("\n\n")}\n`;
}

const exitCodes: readonly (readonly [string, string])[] = [
  ["0", "Good."],
  ["1", "A failure while running, a server that stays unreachable among them."],
  ["2", "The configuration or the command line is wrong; a configuration file that is not there counts as that."],
  ["3", "A check found a fault."],
  ["4", "What was asked for was not found."],
  ["130, 143", "The process was forced to leave by a second signal."],
];

/** The reference of error codes and exit codes as Markdown. */
export function errorReference(): string {
  const codes = Object.entries(errorCodes).map(([code, sentence]) => `| \`${code}\` | ${sentence} |`);
  const exits = exitCodes.map(([code, sentence]) => `| ${code} | ${sentence} |`);
  const parts = [
    generated,
    "# Errors",
    "Every error carries a stable code. A connector may add codes for facts of its destination.",
    ["| code | meaning |", "| --- | --- |", ...codes].join("\n"),
    "## Exit codes of the command",
    ["| code | meaning |", "| --- | --- |", ...exits].join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

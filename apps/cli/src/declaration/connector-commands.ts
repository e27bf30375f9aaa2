import type { Command } from "commander";
import type { Declarer } from "./declarer.js";
import { type FormatFlag, type ProjectFlag, withExamples, withFormat, withProject } from "./flags.js";

interface ConnectorFlags extends FormatFlag, ProjectFlag {
  readonly config?: string;
}

interface InitFlags extends ConnectorFlags {
  readonly output?: string;
  readonly force?: true;
}

function withConnector(command: Command): Command {
  return withFormat(withProject(command)).option(
    "-c, --config <file>",
    "configuration that allows connectors of third parties (`plugins`)",
  );
}

/** Declares `connectors list` and `connectors show`. */
export function declareConnectors({ host, program, add, attempt }: Declarer): void {
  const connectors = add(program, "connectors", "Look at the connectors that can be used.");
  withExamples(
    withFormat(withProject(add(connectors, "list", "List the built-in connectors and those that the project offers."))),
    "sinks connectors list",
  ).action((flags: FormatFlag & ProjectFlag) =>
    attempt(flags.format, async () => {
      const { connectorsList } = await import("../command/connectors-list.js");
      return connectorsList(host, { project: flags.project, format: flags.format });
    }),
  );
  withExamples(
    withConnector(add(connectors, "show", "Describe one connector and its options.").argument("<name>", "name of the connector")),
    "sinks connectors show file",
  ).action((name: string, flags: ConnectorFlags) =>
    attempt(flags.format, async () => {
      const { connectorsShow } = await import("../command/connectors-show.js");
      return connectorsShow(host, { name, project: flags.project, config: flags.config, format: flags.format });
    }),
  );
}

/** Declares `schema`. */
export function declareSchema({ host, program, add, attempt }: Declarer): void {
  const command = add(program, "schema", "Print the JSON Schema of a configuration, or of one connector's options.");
  withExamples(
    withConnector(command.argument("[connector]", "name of a connector")),
    "sinks schema > sinks.schema.json",
    "sinks schema file",
  ).action((name: string | undefined, flags: ConnectorFlags) =>
    attempt(flags.format, async () => {
      const { schema } = await import("../command/schema.js");
      return schema(host, { name, project: flags.project, config: flags.config });
    }),
  );
}

/** Declares `init`. */
export function declareInit({ host, program, add, attempt }: Declarer): void {
  const command = add(program, "init", "Write a commented starter configuration.");
  withExamples(
    withConnector(command.argument("[connector]", "name of the connector", "file"))
      .option("-o, --output <file>", "write to this file (default: standard output)")
      .option("--force", "replace the file when it is there already"),
    "sinks init file > sinks.yaml",
    "sinks init file --output sinks.yaml",
  ).action((name: string, flags: InitFlags) =>
    attempt(flags.format, async () => {
      const { init } = await import("../command/init.js");
      const { output = null, force = false, project, config, format } = flags;
      return init(host, { name, output, force, project, config, format });
    }),
  );
}

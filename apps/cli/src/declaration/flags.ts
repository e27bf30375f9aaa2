import { type Command, InvalidArgumentError, Option } from "commander";
import type { ConfigurationChoice } from "../configuration-choice.js";
import type { Format } from "../output/result.js";

/** Every command that prints a result. */
export interface FormatFlag {
  readonly format: Format;
}

/** Every command that looks connectors up. */
export interface ProjectFlag {
  readonly project?: string;
}

/** Every command that needs a configuration. */
export interface ConfigurationFlags extends FormatFlag, ProjectFlag {
  readonly config?: string;
  readonly set: readonly string[];
}

/** Adds `--format`. */
export function withFormat(command: Command): Command {
  return command.addOption(new Option("--format <format>", "how to print the result").choices(["text", "json"]).default("text"));
}

/** Adds `--project`. */
export function withProject(command: Command): Command {
  return command.option("--project <folder>", "where connectors are looked up (default: the nearest package.json upwards from here)");
}

/** Adds the three ways to name a configuration, `--set`, `--project` and `--format`. */
export function withConfiguration(command: Command): Command {
  command
    .argument("[config]", "configuration file, JSON or YAML")
    .option("-c, --config <file>", "configuration file (or the variable SINKS_CONFIG)")
    .option("--set <section.key=value>", "override one value; may be repeated", collect, []);
  return withFormat(withProject(command));
}

/** Gathers an option that may be repeated. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

/** Adds examples below the help of a command. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText(
    "after",
    `\n${lines.length === 1 ? "Example" : "Examples"}:\n${lines.map((line) => `  $ ${line}`).join("\n")}`,
  );
}

/** What the flags and the first argument say about the configuration. */
export function choiceOf(positional: string | undefined, flags: ConfigurationFlags): ConfigurationChoice {
  return { positional, file: flags.config, overrides: flags.set, project: flags.project };
}

/** Reads a number above 0. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0 || text.trim() === "") throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Reads a count or a sequence, from 1. */
export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(Number(text))) throw new InvalidArgumentError("It must be an integer from 1.");
  return Number(text);
}

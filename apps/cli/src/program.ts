import { Command } from "commander";
import { declareDoctor, declareVerify } from "./declaration/check-commands.js";
import { declareConnectors, declareInit, declareSchema } from "./declaration/connector-commands.js";
import { declareDeadLetters } from "./declaration/dead-letter-commands.js";
import type { Declarer } from "./declaration/declarer.js";
import { declareConfig, declareRun, declareTestSink, declareValidate } from "./declaration/pipeline-commands.js";
import { declareDdl, declareProbe } from "./declaration/plan-commands.js";
import type { Host } from "./host.js";
import { oneLine } from "./output/escape.js";

/** A usage error as one line: commander's prefix goes, its hint on a second line joins the first. */
function usageLine(text: string): string {
  const line = text
    .replace(/^error: /, "")
    .trim()
    .replaceAll("\n", " ");
  const remedy = line.startsWith("unknown command") ? "; `sinks --help` lists the commands" : "";
  return `sinks: ${oneLine(`${line}${remedy}`)}\n`;
}

/**
 * The commands of `sinks`. Nothing that a command does is loaded before its action runs, so that help and usage errors
 * are quick. `settle` receives the exit code of the action.
 */
export function createProgram(host: Host, settle: (exitCode: number) => void): Command {
  const program = new Command("sinks")
    .description("Moves messages from NATS JetStream into the systems where they must last.")
    .version(host.version, "-V, --version", "print the version")
    .helpCommand("help [command]", "show the help of a command")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
      getOutHelpWidth: () => host.stdout.columns(),
      getErrHelpWidth: () => host.stderr.columns(),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(usageLine(text)),
    });
  const declarer: Declarer = {
    host,
    program,
    add: (parent, name, summary) => parent.command(name).description(summary).copyInheritedSettings(program),
    async attempt(format, work) {
      try {
        settle(await work());
      } catch (error) {
        const { reportFailure } = await import("./output/report-failure.js");
        settle(reportFailure(error, host, format));
      }
    },
  };
  declareRun(declarer);
  declareValidate(declarer);
  declareConfig(declarer);
  declareTestSink(declarer);
  declareDoctor(declarer);
  declareProbe(declarer);
  declareDdl(declarer);
  declareVerify(declarer);
  declareInit(declarer);
  declareConnectors(declarer);
  declareSchema(declarer);
  declareDeadLetters(declarer);
  return program;
}

import { Option } from "commander";
import type { Declarer } from "./declarer.js";
import { type ConfigurationFlags, choiceOf, positiveNumber, withConfiguration, withExamples } from "./flags.js";

interface RunFlags extends ConfigurationFlags {
  readonly once?: true;
  readonly timeout?: number;
  readonly dryRun?: true;
}

/** Declares `run`. */
export function declareRun({ host, program, add, attempt }: Declarer): void {
  const command = withConfiguration(add(program, "run", "Move messages from the stream into the sink until told to stop."))
    .option("--once", "end when everything that is in the stream at start is settled")
    .addOption(new Option("--timeout <seconds>", "with --once: give up after so many seconds").argParser(positiveNumber))
    .option("--dry-run", "check everything that needs no network, print the plan and start nothing");
  withExamples(
    command,
    "sinks run sinks.yaml",
    "sinks run -c sinks.yaml --once --timeout 60 --format json",
    "sinks run sinks.yaml --set delivery.batch_size=500 --dry-run",
  ).action((config: string | undefined, flags: RunFlags) =>
    attempt(flags.format, async () => {
      const { once = false, dryRun = false, timeout = null, format } = flags;
      const choice = choiceOf(config, flags);
      if (dryRun) return (await import("../command/run-dry.js")).runDry(host, { choice, format, once });
      return (await import("../command/run.js")).run(host, { choice, format, once, timeoutSeconds: timeout });
    }),
  );
}

/** Declares `validate`. */
export function declareValidate({ host, program, add, attempt }: Declarer): void {
  withExamples(
    withConfiguration(add(program, "validate", "Check a configuration without any network.")),
    "sinks validate sinks.yaml",
    "sinks validate -c sinks.yaml --format json",
  ).action((config: string | undefined, flags: ConfigurationFlags) =>
    attempt(flags.format, async () => {
      const { validate } = await import("../command/validate.js");
      return validate(host, { choice: choiceOf(config, flags), format: flags.format });
    }),
  );
}

/** Declares `config show`. */
export function declareConfig({ host, program, add, attempt }: Declarer): void {
  const config = add(program, "config", "Look at a configuration.");
  withExamples(
    withConfiguration(add(config, "show", "Print the effective configuration with every default, secrets redacted.")),
    "sinks config show sinks.yaml",
    "sinks config show sinks.yaml --set nats.stream=OTHER --format json",
  ).action((file: string | undefined, flags: ConfigurationFlags) =>
    attempt(flags.format, async () => {
      const { configShow } = await import("../command/config-show.js");
      return configShow(host, { choice: choiceOf(file, flags), format: flags.format });
    }),
  );
}

/** Declares `test-sink`. */
export function declareTestSink({ host, program, add, attempt }: Declarer): void {
  withExamples(
    withConfiguration(add(program, "test-sink", "Start the sink, ask the destination for its health, stop.")),
    "sinks test-sink sinks.yaml",
  ).action((file: string | undefined, flags: ConfigurationFlags) =>
    attempt(flags.format, async () => {
      const { testSink } = await import("../command/test-sink.js");
      return testSink(host, { choice: choiceOf(file, flags), format: flags.format });
    }),
  );
}

import { Option } from "commander";
import type { Declarer } from "./declarer.js";
import { type ConfigurationFlags, choiceOf, positiveInteger, withConfiguration, withExamples } from "./flags.js";

interface VerifyFlags extends ConfigurationFlags {
  readonly from?: number;
  readonly to?: number;
}

/** Declares `verify`. */
export function declareVerify({ host, program, add, attempt }: Declarer): void {
  const command = withConfiguration(add(program, "verify", "Prove that every message is stored, dead-lettered or still pending."))
    .addOption(new Option("--from <sequence>", "first stream sequence to look at").argParser(positiveInteger))
    .addOption(new Option("--to <sequence>", "last stream sequence to look at").argParser(positiveInteger));
  withExamples(command, "sinks verify sinks.yaml", "sinks verify sinks.yaml --from 120000 --to 130000 --format json").action(
    (file: string | undefined, flags: VerifyFlags) =>
      attempt(flags.format, async () => {
        const { verify } = await import("../command/verify.js");
        const { from = null, to = null, format } = flags;
        return verify(host, { choice: choiceOf(file, flags), from, to, format });
      }),
  );
}

/** Declares `doctor`. */
export function declareDoctor({ host, program, add, attempt }: Declarer): void {
  const command = withConfiguration(add(program, "doctor", "Check server, stream, consumer, rights and destination before a start."));
  withExamples(command, "sinks doctor sinks.yaml", "sinks doctor -c sinks.yaml --format json").action(
    (file: string | undefined, flags: ConfigurationFlags) =>
      attempt(flags.format, async () => {
        const { doctor } = await import("../command/doctor.js");
        return doctor(host, { choice: choiceOf(file, flags), format: flags.format });
      }),
  );
}

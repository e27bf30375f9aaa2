import type { Declarer } from "./declarer.js";
import { type ConfigurationFlags, choiceOf, collect, withConfiguration, withExamples } from "./flags.js";

interface ProbeFlags extends ConfigurationFlags {
  readonly subject?: string;
  readonly header: readonly string[];
  readonly data?: string;
  readonly file?: string;
  readonly showValues?: true;
}

/** Declares `probe`. */
export function declareProbe({ host, program, add, attempt }: Declarer): void {
  const command = withConfiguration(add(program, "probe", "Say what the sink would write for some messages, and write nothing."))
    .argument("[sequence...]", "messages of the stream, taken for one batch")
    .option("--subject <subject>", "probe a message made of flags instead")
    .option("--header <name=value>", "a header of that message; may be repeated", collect, [])
    .option("--data <text>", "its body")
    .option("--file <file>", "file that holds its body")
    .option("--show-values", "show bound values, which are redacted otherwise");
  withExamples(
    command,
    "sinks probe sinks.yaml 12 13",
    `sinks probe sinks.yaml --subject parcels.graz --data '{"id":7}' --header Nats-Msg-Id=p-7 --show-values`,
  ).action((first: string | undefined, rest: readonly string[], flags: ProbeFlags) =>
    attempt(flags.format, async () => {
      const { probe } = await import("../command/probe.js");
      // With -c or SINKS_CONFIG the arguments are sequences only.
      const named = first !== undefined && !/^\d+$/.test(first);
      const sequences = named || first === undefined ? rest : [first, ...rest];
      const { subject, header: headers, data, file, showValues = false, format } = flags;
      return probe(host, {
        choice: choiceOf(named ? first : undefined, flags),
        messages: { sequences, subject, headers, data, file },
        showValues,
        format,
      });
    }),
  );
}

/** Declares `ddl`. */
export function declareDdl({ host, program, add, attempt }: Declarer): void {
  withExamples(
    withConfiguration(add(program, "ddl", "Print the statements that make what the sink needs, such as its table; without any network.")),
    "sinks ddl sinks.yaml",
    "sinks ddl sinks.yaml | psql",
  ).action((file: string | undefined, flags: ConfigurationFlags) =>
    attempt(flags.format, async () => {
      const { ddl } = await import("../command/ddl.js");
      return ddl(host, { choice: choiceOf(file, flags), format: flags.format });
    }),
  );
}

import { Option } from "commander";
import type { Declarer } from "./declarer.js";
import { type ConfigurationFlags, choiceOf, positiveInteger, withConfiguration, withExamples } from "./flags.js";

interface PageFlags extends ConfigurationFlags {
  readonly limit: number;
  readonly from?: number;
}

/** Declares `dlq list` and `dlq show`. */
export function declareDeadLetters({ host, program, add, attempt }: Declarer): void {
  const dlq = add(program, "dlq", "Look at dead letters.");
  const list = withConfiguration(add(dlq, "list", "List dead letters, oldest first; repeated entries of one message are shown once."))
    .addOption(new Option("--limit <count>", "entries on this page").argParser(positiveInteger).default(100))
    .addOption(new Option("--from <sequence>", "start at this sequence of the dead-letter stream").argParser(positiveInteger));
  withExamples(list, "sinks dlq list sinks.yaml", "sinks dlq list sinks.yaml --from 1200 --limit 50 --format json").action(
    (file: string | undefined, flags: PageFlags) =>
      attempt(flags.format, async () => {
        const { dlqList } = await import("../command/dlq-list.js");
        return dlqList(host, { choice: choiceOf(file, flags), limit: flags.limit, from: flags.from ?? 1, format: flags.format });
      }),
  );

  const show = withConfiguration(add(dlq, "show", "Print one dead letter with its payload decoded."));
  withExamples(
    show.argument("[sequence]", "sequence in the dead-letter stream"),
    "sinks dlq show sinks.yaml 12",
    "sinks dlq show -c sinks.yaml 12",
  ).action((first: string | undefined, second: string | undefined, flags: ConfigurationFlags) =>
    attempt(flags.format, async () => {
      const { dlqShow } = await import("../command/dlq-show.js");
      // With -c or SINKS_CONFIG the only argument is the sequence.
      const alone = second === undefined && /^\d+$/.test(first ?? "");
      const [file, sequence] = alone ? [undefined, first] : [first, second];
      return dlqShow(host, { choice: choiceOf(file, flags), sequence, format: flags.format });
    }),
  );
}

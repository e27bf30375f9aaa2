import { type Command, Option } from "commander";
import type { Declarer } from "./declarer.js";
import { type ConfigurationFlags, choiceOf, collect, positiveInteger, withConfiguration, withExamples } from "./flags.js";

interface PageFlags extends ConfigurationFlags {
  readonly limit: number;
  readonly from?: number;
}

interface ReplayFlags extends ConfigurationFlags {
  readonly all?: boolean;
  readonly where: readonly string[];
  readonly publish?: boolean;
  readonly dryRun?: boolean;
}

/** Declares `dlq list`, `dlq show` and `dlq replay`. */
export function declareDeadLetters(declarer: Declarer): void {
  const dlq = declarer.add(declarer.program, "dlq", "Look at dead letters, and put them back.");
  declareList(declarer, dlq);
  declareShow(declarer, dlq);
  declareReplay(declarer, dlq);
}

function declareList({ host, add, attempt }: Declarer, dlq: Command): void {
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
}

function declareShow({ host, add, attempt }: Declarer, dlq: Command): void {
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

function declareReplay({ host, add, attempt }: Declarer, dlq: Command): void {
  const replay = withConfiguration(add(dlq, "replay", "Put dead letters back into the sink, or onto their subjects, and mark them done."));
  replay
    .argument("[sequence...]", "sequences in the dead-letter stream")
    .option("--all", "every dead letter of this pipeline that is not done")
    .option("--where <field=value>", "those whose field has this value; may be repeated, all must hold", collect, [])
    .option("--publish", "publish on the original subject, as a new message, instead of writing to the sink")
    .option("--dry-run", "say what would be done, and do nothing");
  withExamples(
    replay,
    "sinks dlq replay sinks.yaml 12 15",
    "sinks dlq replay sinks.yaml --where error_code=payload_not_json --dry-run",
    "sinks dlq replay sinks.yaml --all --publish",
  ).action((first: string | undefined, rest: readonly string[], flags: ReplayFlags) =>
    attempt(flags.format, async () => {
      const { dlqReplay } = await import("../command/dlq-replay.js");
      // With -c or SINKS_CONFIG the arguments are sequences only.
      const named = first !== undefined && !/^\d+$/.test(first);
      return dlqReplay(host, {
        choice: choiceOf(named ? first : undefined, flags),
        letters: { sequences: named || first === undefined ? rest : [first, ...rest], all: flags.all ?? false, where: flags.where },
        publish: flags.publish ?? false,
        dryRun: flags.dryRun ?? false,
        format: flags.format,
      });
    }),
  );
}

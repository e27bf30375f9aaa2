import { silentTelemetry } from "@sinks/core";
import { createRunner, redactedConfiguration, resolveSecrets, resolveSinkOptions } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { countText, messagesText } from "../output/number-text.js";
import { type Format, printResult } from "../output/result.js";
import { pairs } from "../output/table.js";
import { type Pipeline, preparePipeline } from "../pipeline.js";

/** What `sinks run --dry-run` was asked for. */
export interface RunDryRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
  readonly once: boolean;
}

/** What a run would do, as far as the configuration alone says it. */
interface Plan {
  readonly source: {
    readonly servers: readonly string[];
    readonly stream: string;
    readonly consumer: string;
    readonly subjects: readonly string[];
    readonly mode: string;
  };
  readonly sink: {
    readonly name: string;
    readonly type: string;
    readonly summary: string;
    /** The effective options, secrets redacted; text shows those that the configuration states, and the mode. */
    readonly options: Readonly<Record<string, unknown>>;
  };
  readonly delivery: {
    readonly ordering: string;
    readonly ack_mode: string;
    readonly batch_size: number;
    readonly max_in_flight_batches: number;
    readonly max_messages_in_flight: number;
    readonly max_bytes_in_flight: number;
  };
  readonly dead_letter: { readonly enabled: boolean; readonly subject: string | null; readonly when_disabled: string };
  readonly once: boolean;
}

/** Checks all that a start checks before any I/O, secrets included, and prints the plan; starts nothing (FW-CLI-03). */
export async function runDry(host: Host, { choice, format, once }: RunDryRequest): Promise<number> {
  const pipeline = await preparePipeline(host, choice);
  warn(host, pipeline.notices);
  const { configuration, connector } = pipeline;
  resolveSecrets(configuration, host.environment);
  resolveSinkOptions(configuration, connector, host.environment);
  createRunner({ configuration, createSink: () => pipeline.createSink(silentTelemetry), environment: host.environment });
  const plan = planOf(pipeline, once);
  printResult(host, format, plan, () => text(plan, Object.keys(configuration.sink)));
  return exitCodes.good;
}

function planOf(pipeline: Pipeline, once: boolean): Plan {
  const { configuration, connector } = pipeline;
  const { nats, consumer_management: management, delivery, dead_letter: deadLetter, sink } = configuration;
  return {
    source: {
      servers: nats.urls.length > 0 ? nats.urls : [nats.url],
      stream: nats.stream,
      consumer: nats.consumer,
      subjects: management.filter_subjects.length > 0 ? management.filter_subjects : [nats.subject],
      mode: management.mode,
    },
    sink: { name: sink.type, type: sink.type, summary: connector.summary, options: shownOptions(pipeline) },
    delivery: {
      ordering: delivery.ordering,
      ack_mode: delivery.ack_mode,
      batch_size: delivery.batch_size,
      max_in_flight_batches: delivery.max_in_flight_batches,
      max_messages_in_flight: delivery.max_messages_in_flight,
      max_bytes_in_flight: delivery.max_bytes_in_flight,
    },
    dead_letter: { enabled: deadLetter.enabled, subject: deadLetter.subject, when_disabled: deadLetter.when_disabled },
    once,
  };
}

function shownOptions({ configuration, connector, options }: Pipeline): Readonly<Record<string, unknown>> {
  const { type: _, ...shown } = redactedConfiguration(configuration, { schema: connector.options, options })["sink"] as Record<
    string,
    unknown
  >;
  return shown;
}

/** What the configuration says of the sink, a line each; `mode`, which decides most, also when it is a default. */
function optionPairs(options: Readonly<Record<string, unknown>>, stated: readonly string[]): readonly (readonly [string, string])[] {
  return Object.entries(options)
    .filter(([key, value]) => (stated.includes(key) || key === "mode") && typeof value !== "object")
    .map(([key, value]) => [`  ${key}`, String(value)] as const);
}

const modes: Readonly<Record<string, string>> = {
  bind_only: "must be there already",
  create_if_missing: "made when it is missing",
  reconcile: "made when it is missing, changed where it differs",
};

function text({ source, sink, delivery, dead_letter: deadLetter, once }: Plan, stated: readonly string[]): string {
  const megabytes = Math.round(delivery.max_bytes_in_flight / 1_048_576);
  return `${pairs([
    ["from", `stream ${source.stream}, subjects ${source.subjects.join(", ")}, at ${source.servers.join(", ")}`],
    ["consumer", `${source.consumer}, ${modes[source.mode] ?? source.mode}`],
    ["into", `${sink.type}: ${sink.summary}`],
    ...optionPairs(sink.options, stated),
    ["order", delivery.ordering],
    ["batches", `up to ${messagesText(delivery.batch_size)}, ${delivery.max_in_flight_batches} at a time`],
    ["in flight", `up to ${messagesText(delivery.max_messages_in_flight)} and ${countText(megabytes)} MiB`],
    ["acknowledged", `after the batch is durable, ${delivery.ack_mode}`],
    ["hopeless messages", deadLetter.enabled ? `to ${deadLetter.subject ?? ""}` : `dead letters are off: ${deadLetter.when_disabled}`],
    ["ends", once ? "when everything that is in the stream at start is settled" : "with SIGTERM or SIGINT"],
  ])}\nNothing was started.\n`;
}

import type { Configuration } from "../config/schema.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";
import type { ConsumerState } from "../source/consumer.js";
import { recreatedKey } from "../source/consumer-settings.js";

/** Where a consumer begins: at a sequence, or at the first message from a time on. */
export type ExpectedStart =
  | { readonly kind: "sequence"; readonly sequence: number }
  | { readonly kind: "time"; readonly timeNs: bigint; readonly note: string | null };

/** What decides where a consumer began. */
export interface StartFacts {
  readonly config: Pick<ConsumerState["config"], "deliver_policy" | "opt_start_seq" | "opt_start_time" | "metadata">;
  readonly consumerCreatedAt: string;
  /** First sequence the stream can have had. */
  readonly firstPossible: number;
}

/**
 * The first message that the pipeline had to handle, by the deliver policy. A consumer that was made again under way begins
 * later than the pipeline did, so there the configuration's own policy counts (FW-RUN-05).
 */
export function expectedStart({ config, consumerCreatedAt, firstPossible }: StartFacts, configuration: Configuration): ExpectedStart {
  const recreatedAbove = config.metadata?.[recreatedKey];
  const management = configuration.consumer_management;
  const recreated = recreatedAbove !== undefined;
  const policy: string = recreated ? management.deliver_policy : config.deliver_policy;
  const sequence = recreated ? management.start_sequence : config.opt_start_seq;
  const time = recreated ? management.start_time : config.opt_start_time;
  if (policy === "all") return { kind: "sequence", sequence: firstPossible };
  if (policy === "by_start_sequence" && sequence !== null && sequence !== undefined)
    return { kind: "sequence", sequence: Math.max(firstPossible, Number(sequence)) };
  if (policy === "by_start_time" && typeof time === "string") return { kind: "time", timeNs: parseRfc3339(time) ?? 0n, note: null };
  if (recreated) return { kind: "sequence", sequence: Number(recreatedAbove) + 1 };
  const note = policy === "new" ? null : `the consumer began with ${policy}: only messages since it was made are looked at`;
  return { kind: "time", timeNs: parseRfc3339(consumerCreatedAt) ?? 0n, note };
}

/** Gives the first message at or after a sequence; null when there is none. */
export type MessageAt = (sequence: number) => Promise<{ readonly sequence: number; readonly time: string } | null>;

/** The first sequence from which on every message is as new as a time, by halving. */
export async function firstSequenceSince(timeNs: bigint, from: number, to: number, messageAt: MessageAt): Promise<number> {
  let low = from;
  let high = to + 1;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    const message = await messageAt(middle);
    if (message !== null && message.sequence < high && (parseRfc3339(message.time) ?? 0n) < timeNs) low = message.sequence + 1;
    else high = middle;
  }
  return low;
}

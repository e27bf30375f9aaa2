import type { StreamInfo } from "@nats-io/jetstream";

/** What decides whether a stream removes messages that nobody acknowledged. */
export interface StreamLimits {
  readonly retention: "limits" | "interest" | "workqueue";
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Age of the stream and of its oldest message at most, ms; 0 means without limit. */
  readonly ageMs: number;
  readonly maximumAgeMs: number;
  /** Without limit: 0 or below. */
  readonly maximumMessages: number;
  readonly maximumBytes: number;
  readonly maximumPerSubject: number;
  /** True when a full stream refuses new messages instead of removing old ones; so for each subject. */
  readonly refusesNew: boolean;
  readonly refusesNewPerSubject: boolean;
  readonly messageTtl: boolean;
  readonly rollup: boolean;
}

/** The limits of a stream, out of what the server says of it. */
export function streamLimits({ config, state, created, ts }: StreamInfo): StreamLimits {
  return {
    retention: config.retention === "workqueue" || config.retention === "interest" ? config.retention : "limits",
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
    // Both times are the server's: our clock has no say in what it removed.
    ageMs: Date.parse(ts ?? state.last_ts) - Date.parse(created),
    maximumAgeMs: (config.max_age ?? 0) / 1e6,
    maximumMessages: config.max_msgs ?? 0,
    maximumBytes: config.max_bytes ?? 0,
    maximumPerSubject: config.max_msgs_per_subject ?? 0,
    refusesNew: config.discard === "new",
    refusesNewPerSubject: config.discard === "new" && config.discard_new_per_subject === true,
    messageTtl: config.allow_msg_ttl === true,
    rollup: config.allow_rollup_hdrs === true,
  };
}

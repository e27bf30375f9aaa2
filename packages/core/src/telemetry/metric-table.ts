/** What is known of a metric besides its value. */
export interface MetricDescription {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Name of the label that tells its parts apart; a word of a closed list is its value. */
  readonly label?: string;
  /** Upper bounds of a histogram, rising. */
  readonly buckets?: readonly number[];
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const ages = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400];

const counter = (help: string, label?: string): MetricDescription => ({ kind: "counter", help, ...(label === undefined ? {} : { label }) });
const gauge = (help: string): MetricDescription => ({ kind: "gauge", help });
const histogram = (help: string, buckets: readonly number[] = seconds): MetricDescription => ({ kind: "histogram", help, buckets });

/** Every metric of the core by its name without the namespace; names of earlier releases keep their meaning (FW-OBS-02). */
export const metricTable: Readonly<Record<string, MetricDescription>> = Object.freeze({
  messages_fetched_total: counter("Messages received from the consumer, repetitions of what is still held not counted."),
  messages_written_total: counter("Messages that the destination has durably."),
  messages_without_write_total: counter("Messages that asked for no write: no rule of the write map matched, or a list had no elements."),
  messages_acked_total: counter("Messages whose acknowledgement was sent, and confirmed as far as ack_mode asks for it."),
  messages_terminated_total: counter("Dead-lettered messages that were ended by TERM."),
  messages_nacked_total: counter("Messages given back to the server."),
  messages_failed_total: counter("Attempts at a message that did not store it."),
  messages_dlq_total: counter("Messages that the dead-letter stream has taken."),
  messages_retried_total: counter("Attempts that were put off to be made again."),
  discarded_total: counter("Messages dropped because dead_letter.when_disabled says so."),
  size_policy_messages_rejected_total: counter("Messages over a limit of size_policy.", "reason"),
  size_policy_evaluation_errors_total: counter("Messages whose check failed by itself."),
  message_normalization_errors_total: counter("Messages whose headers or metadata cannot be used.", "code"),
  sink_write_errors_total: counter("Messages that the sink did not store, by the code of the error.", "code"),
  sink_batches_written_total: counter("Batches that the sink stored as a whole."),
  unknown_outcomes_total: counter("Writes that may have been applied."),
  possible_duplicates_total: counter("Messages left to redelivery after a write that may have been applied."),
  sink_batch_isolations_total: counter("Batches that a sink took apart to find the message that the destination refuses."),
  ledger_records_removed_total: counter("Records of a sink's ledger that were older than its retention."),
  batch_splits_total: counter("Batches written again in parts because they were refused as a whole."),
  late_acks_total: counter("Messages stored after their lease had run out."),
  lost_leases_total: counter("Leases that ran out here: the server may have delivered the message again."),
  redelivered_while_held_total: counter("Deliveries of messages that were still held here; they are not written again."),
  awaited_messages_gone_total: counter("Messages that an ordered lane waited for and that left the stream."),
  heartbeat_errors_total: counter("Heartbeats that could not be sent; tried again at the next tick."),
  nak_errors_total: counter("Messages that could not be given back; their lease runs out instead."),
  ack_errors_total: counter("Stored messages whose acknowledgement stayed unconfirmed; left to redelivery."),
  term_errors_total: counter("Dead-lettered messages whose TERM stayed unconfirmed; left to redelivery."),
  unconfirmed_acks_total: counter("Acknowledgements that were not confirmed in time and sent again."),
  settle_errors_total: counter("Ack verbs that the client refused to send."),
  stale_epoch_settlements_total: counter("Messages not settled because stream or consumer had been made again."),
  dlq_publish_errors_total: counter("Attempts to publish a dead letter that failed."),
  event_loop_blocks_total: counter("Times the event loop stood still for a heartbeat or longer."),
  nats_connection_disconnected_total: counter("Connections to NATS that were lost."),
  nats_connection_reconnected_total: counter("Connections to NATS that were made again."),
  negative_ages_total: counter("Ages below zero, which count as zero: a source's clock is ahead of this one."),
  events_stale_at_receive_total: counter("Events older than metrics.event_stale_after_seconds when they were received."),
  event_creation_timestamp_missing_total: counter("Events of which nobody says when they were made."),
  event_creation_timestamp_malformed_total: counter("Events whose Nats-Time-Stamp cannot be read."),
  event_creation_timestamp_future_total: counter("Events from beyond metrics.event_future_skew_tolerance_seconds."),
  metrics_dropped_total: counter("Names and labels of metrics that were not kept because there were too many."),
  observation_errors_total: counter("Requests and status files that could not be served or written."),
  ready: gauge("1 when the pipeline is ready: running, pulling, bound, and nothing wrong."),
  healthy: gauge("1 when nothing is wrong."),
  consumer_lag: gauge("Messages of the consumer behind the newest delivery."),
  ack_pending: gauge("Messages that the server holds delivered and not acknowledged, for all clients together."),
  messages_in_flight: gauge("Messages fetched and not yet settled, held ones not counted."),
  bytes_in_flight: gauge("Bytes fetched and not yet settled."),
  messages_held: gauge("Messages put aside now."),
  oldest_unsettled_age_seconds: gauge("Time since the oldest message that is not settled was received."),
  last_sink_success_epoch_seconds: gauge("Unix time of the newest batch that the sink stored."),
  sink_batch_write_seconds: histogram("Time inside one call of the sink."),
  event_loop_delay_seconds: histogram("How late the event loop came to a tick."),
  retry_backoff_delay_seconds: histogram("Delays chosen for retries."),
  event_age_at_receive_seconds: histogram("Age of events when they were received.", ages),
  event_source_clock_skew_seconds: histogram("Time by which a source's clock was ahead.", ages),
});

/** Names under which parts report what the table calls otherwise. */
export const metricAliases: Readonly<Record<string, string>> = Object.freeze({ dlq_errors_total: "dlq_publish_errors_total" });

/** Buckets of a histogram that the table does not know. */
export const defaultBuckets: readonly number[] = Object.freeze(seconds);

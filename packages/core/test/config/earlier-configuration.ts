/** A configuration of the earlier project, with every section spelt out at that project's defaults. */
export const earlierConfiguration = {
      nats: {
        url: "nats://127.0.0.1:4222", urls: [], stream: "EVENTS", consumer: "sink", subject: "events.>", durable: true, name: "orders-sink", no_echo: false,
        tls_verify: true, connect_timeout_seconds: 2, allow_reconnect: true, reconnect_time_wait_seconds: 2, max_reconnect_attempts: 60,
        ping_interval_seconds: 120, max_outstanding_pings: 2, pending_size_bytes: 2097152, drain_timeout_seconds: 30,
      },
      consumer_management: { mode: "create_if_missing", filter_subjects: [], deliver_policy: "all", replay_policy: "instant", ack_wait_seconds: 30, max_deliver: 20, max_ack_pending: 1000, max_waiting: 512, metadata: { team: "orders" } },
      push_consumer: { enabled: false, manual_ack: true, pending_msgs_limit: 1024, pending_bytes_limit: 67108864, queue_overflow_action: "nak", flow_control: false, drain_timeout_ms: 30000 },
      delivery: {
        batch_size: 100, batch_timeout_ms: 1000, max_in_flight_batches: 1, ack_policy: "after_sink_commit", max_retries: 5, retry_backoff_ms: 1000,
        retry_backoff_max_ms: 60000, retry_backoff_mode: "exponential", retry_backoff_multiplier: 2.0, retry_jitter: "full", temporary_failure_action: "nak", prefer_safe_duplication: true,
        in_progress: { enabled: false, interval_ms: 5000, max_heartbeats: 12, shutdown_timeout_ms: 5000 },
        ack_confirmation: { enabled: false, timeout_ms: 1000, unsupported_action: "fail" },
      },
      dead_letter: { enabled: true, subject: "dlq.orders", include_payload: true, include_headers: true, include_error: true, ack_term_after_publish: false },
      logging: { level: "INFO", payload_logging: false },
      metrics: { enabled: false, namespace: "nats_sinks", event_freshness_enabled: true, event_stale_after_seconds: 300, event_future_skew_tolerance_seconds: 5 },
      advisories: { enabled: false, max_payload_bytes: 65536, log_events: false },
      message_metadata: {
        priority: { header: "Nats-Sinks-Priority", default: null }, classification: { header: "Nats-Sinks-Classification", default: null },
        labels: { header: "Nats-Sinks-Labels", default: null }, rules: [{ subject: "events.audit.>", priority: "high", labels: ["audit", "retain"] }],
      },
      size_policy: { enabled: false, max_payload_bytes: 16777216, max_header_count: 128 },
      routing: { enabled: false, mode: "first", no_match: "reject" },
      plugins: { enabled: false, allowed_sinks: [], require_production_ready: true },
      sink: {
        type: "file", directory: "/tmp/out", mode: "one_file_per_message", filename_strategy: "stream_sequence", duplicate_policy: "skip_existing", payload_mode: "json_or_envelope",
        extension: ".json", compression: "none", compression_level: 6, include_metadata: true, partition_by_subject: true, create_directory: true, fsync: true, pretty: false,
      },
    };

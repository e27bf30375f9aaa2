import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeJson } from "../../src/envelope/json-encode.js";
import { parseStrictJson } from "../../src/envelope/strict-json.js";
import { type SampleFields, sampleEnvelope, samplePosition } from "./sample-envelope.js";

const receivedNs = 1_767_225_600_223_456_789n;
const timestampNs = 1_767_225_600_123_456_789n;

describe("FW-META-01 the snapshot", () => {
  test("FW-META-01 holds every key of the table, in its order, and no other", () => {
    const snapshot = sampleEnvelope().metadataForJsonStorage();
    const keys = Object.entries(snapshot).map(([name, value]) => [
      name,
      typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : null,
    ]);
    expect(keys).toEqual([
      ["metadata_version", null],
      ["subject", null],
      ["reply", null],
      ["message_id", null],
      ["message_metadata", ["priority", "classification", "labels"]],
      ["mission_metadata", null],
      ["security_labels", null],
      ["headers", []],
      [
        "payload",
        [
          "present",
          "omitted",
          "omitted_reason",
          "original_size_bytes",
          "delivered_size_bytes",
          "nats_msg_size_header",
          "nats_msg_size_header_malformed",
        ],
      ],
      ["nats", ["reserved_headers", "reserved_headers_present"]],
      [
        "jetstream",
        [
          "stream",
          "consumer",
          "domain",
          "stream_sequence",
          "consumer_sequence",
          "redelivered",
          "pending",
          "timestamp",
          "timestamp_epoch_ns",
          "stream_created_at",
          "delivery_count",
        ],
      ],
      [
        "timestamps",
        [
          "message_created_at_epoch_ns",
          "message_created_at_source",
          "message_created_at_header_malformed",
          "nats_time_stamp",
          "jetstream_timestamp_epoch_ns",
          "received_at",
          "received_at_epoch_ns",
          "stored_at",
          "stored_at_epoch_ns",
        ],
      ],
      [
        "freshness",
        [
          "event_age_at_receive_seconds",
          "event_age_at_store_seconds",
          "source_clock_skew_seconds",
          "message_created_at_source",
          "message_created_at_missing",
          "message_created_at_header_malformed",
        ],
      ],
    ]);
  });

  test("FW-META-01 holds the values of the message", () => {
    const envelope = sampleEnvelope({
      data: "",
      headers: [
        ["Nats-Msg-Id", "id-1"],
        ["Nats-Msg-Size", "12"],
        ["X-Origin", "kit"],
        ["Nats-Sinks-Priority", "high"],
        ["Nats-Sinks-Labels", "a;b"],
      ],
    });
    expect(envelope.metadataForJsonStorage(receivedNs + 1_000_000_000n)).toEqual({
      metadata_version: 1,
      subject: "events.a",
      reply: "$JS.ACK.EVENTS.sink.1.42.7.1767225600123456789.3",
      message_id: "id-1",
      message_metadata: { priority: "high", classification: null, labels: ["a", "b"] },
      mission_metadata: null,
      security_labels: null,
      headers: {
        "Nats-Msg-Id": "id-1",
        "Nats-Msg-Size": "12",
        "X-Origin": "kit",
        "Nats-Sinks-Priority": "high",
        "Nats-Sinks-Labels": "a;b",
      },
      payload: {
        present: false,
        omitted: true,
        omitted_reason: "headers_only",
        original_size_bytes: 12,
        delivered_size_bytes: 0,
        nats_msg_size_header: "12",
        nats_msg_size_header_malformed: false,
      },
      nats: {
        reserved_headers: { "Nats-Msg-Id": "id-1", "Nats-Msg-Size": "12", "Nats-Sinks-Priority": "high", "Nats-Sinks-Labels": "a;b" },
        reserved_headers_present: ["Nats-Msg-Id", "Nats-Msg-Size", "Nats-Sinks-Labels", "Nats-Sinks-Priority"],
      },
      jetstream: {
        stream: "EVENTS",
        consumer: "sink",
        domain: null,
        stream_sequence: 42n,
        consumer_sequence: 7n,
        redelivered: false,
        pending: 3,
        timestamp: "2026-01-01T00:00:00.123456789Z",
        timestamp_epoch_ns: timestampNs,
        stream_created_at: "2026-01-02T03:04:05.123456789Z",
        delivery_count: 1,
      },
      timestamps: {
        message_created_at_epoch_ns: timestampNs,
        message_created_at_source: "jetstream_timestamp",
        message_created_at_header_malformed: false,
        nats_time_stamp: null,
        jetstream_timestamp_epoch_ns: timestampNs,
        received_at: "2026-01-01T00:00:00.223456789Z",
        received_at_epoch_ns: receivedNs,
        stored_at: "2026-01-01T00:00:01.223456789Z",
        stored_at_epoch_ns: receivedNs + 1_000_000_000n,
      },
      freshness: {
        event_age_at_receive_seconds: 0.1,
        event_age_at_store_seconds: 1.1,
        source_clock_skew_seconds: 0,
        message_created_at_source: "jetstream_timestamp",
        message_created_at_missing: false,
        message_created_at_header_malformed: false,
      },
    });
  });

  test("FW-META-01 storage times are null until a sink gives one", () => {
    const { timestamps, freshness } = sampleEnvelope().metadataForJsonStorage();
    expect([timestamps.stored_at, timestamps.stored_at_epoch_ns, freshness.event_age_at_store_seconds]).toEqual([null, null, null]);
  });
});

describe("FW-META-02 creation time", () => {
  const created = (fields: SampleFields) => {
    const { timestamps, freshness } = sampleEnvelope(fields).metadataForJsonStorage(receivedNs);
    expect([freshness.message_created_at_source, freshness.message_created_at_header_malformed]).toEqual([
      timestamps.message_created_at_source,
      timestamps.message_created_at_header_malformed,
    ]);
    return [
      timestamps.message_created_at_source,
      timestamps.message_created_at_epoch_ns,
      timestamps.message_created_at_header_malformed,
      timestamps.nats_time_stamp,
      freshness.message_created_at_missing,
    ];
  };

  test("FW-META-02 a valid header wins, also without a zone", () => {
    expect(created({ headers: [["nats-time-stamp", "2025-12-31T23:59:59.000000001"]] })).toEqual([
      "nats_time_stamp",
      1_767_225_599_000_000_001n,
      false,
      "2025-12-31T23:59:59.000000001",
      false,
    ]);
  });

  test("FW-META-02 a malformed header is told, and the server's time counts", () => {
    expect(created({ headers: [["Nats-Time-Stamp", "soon"]] })).toEqual(["jetstream_timestamp", timestampNs, true, "soon", false]);
    expect(created({ headers: [["Nats-Time-Stamp", "soon"]], position: null })).toEqual(["missing", null, true, "soon", true]);
  });

  test("FW-META-02 with neither it is missing", () => {
    expect(created({ position: null })).toEqual(["missing", null, false, null, true]);
    expect(created({})).toEqual(["jetstream_timestamp", timestampNs, false, null, false]);
  });

  test("FW-META-01 a time in the future is skew, not a negative age", () => {
    const { freshness } = sampleEnvelope({ headers: [["Nats-Time-Stamp", "2026-01-01T00:00:10.223456789Z"]] }).metadataForJsonStorage(
      receivedNs,
    );
    expect([freshness.event_age_at_receive_seconds, freshness.event_age_at_store_seconds, freshness.source_clock_skew_seconds]).toEqual([
      0, 0, 10,
    ]);
  });
});

describe("FW-META-03 and FW-META-04", () => {
  test("FW-META-03 nanoseconds are written digit for digit", () => {
    const text = sampleEnvelope().metadataJsonText(1_767_225_600_999_999_999n);
    for (const part of [
      '"timestamp_epoch_ns":1767225600123456789,',
      '"message_created_at_epoch_ns":1767225600123456789,',
      '"jetstream_timestamp_epoch_ns":1767225600123456789,',
      '"received_at_epoch_ns":1767225600223456789,',
      '"stored_at_epoch_ns":1767225600999999999}',
    ]) {
      expect(text).toContain(part);
    }
  });

  test("FW-META-04 reserved are names that start with Nats- in any case, traceparent and Accept-Encoding", () => {
    const headers: [string, string][] = [
      "NATS-X",
      "nats-",
      "Nats-Msg-Id",
      "TraceParent",
      "accept-encoding",
      "Natsx",
      "X-Nats-Y",
      "traceparents",
      "tracestate",
    ].map((name) => [name, "v"]);
    const { nats } = sampleEnvelope({ headers }).metadataForJsonStorage();
    expect(Object.keys(nats.reserved_headers)).toEqual(["NATS-X", "nats-", "Nats-Msg-Id", "TraceParent", "accept-encoding"]);
    expect(nats.reserved_headers_present).toEqual(["NATS-X", "Nats-Msg-Id", "TraceParent", "accept-encoding", "nats-"]);
  });
});

describe("the snapshot as text", () => {
  test("FW-META-01 a header named __proto__ is a header", () => {
    const envelope = sampleEnvelope({ headers: [["__proto__", "x"]] });
    expect(Object.keys(envelope.metadataForJsonStorage().headers)).toEqual(["__proto__"]);
    expect(envelope.metadataJsonText()).toContain('"headers":{"__proto__":"x"}');
  });

  test("FW-META-03 the text is what the object encodes to, and strict JSON (property)", () => {
    const name = fc.constantFrom(
      "Nats-Msg-Id",
      "Nats-Msg-Size",
      "Nats-Time-Stamp",
      "Nats-Sinks-Priority",
      "Nats-Sinks-Labels",
      "traceparent",
      "X-A",
      "x-b",
      "__proto__",
      "10",
      "9",
    );
    const value = fc.oneof(
      fc.constantFrom("", "12", "2026-01-01T00:00:00Z", "a;b", 'q"\\'),
      fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text)),
    );
    const count = fc.option(fc.nat());
    const fields = fc.record({
      subject: fc.string({ minLength: 1, unit: "grapheme" }),
      reply: fc.option(fc.string()),
      data: fc.constantFrom("", "x", "{}"),
      receivedAtNs: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      headers: fc.array(fc.tuple(name, value), { maxLength: 12 }),
      position: fc.option(
        fc.record({
          streamSequence: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
          consumerSequence: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
          timestampNs: fc.option(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })),
          deliveryCount: count,
          pending: count,
        }),
      ),
      origin: fc.record({
        stream: fc.option(fc.string()),
        consumer: fc.option(fc.string()),
        domain: fc.option(fc.string()),
        streamCreatedAt: fc.constantFrom(null, "2026-01-02T03:04:05Z"),
      }),
      known: fc.constantFrom(null, { missionMetadata: { a: [1n, { b: "c" }] }, securityLabels: { d: null }, labels: ["x", "y"] }),
    });
    fc.assert(
      fc.property(fields, fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), { nil: undefined }), (given, storedAtNs) => {
        const text = sampleEnvelope(given).metadataJsonText(storedAtNs);
        const integerLike = given.headers.some(([each]) => /^\d+$/.test(each));
        // Objects put integer-like names first; the text keeps the order of the headers.
        if (!integerLike) expect(text).toBe(encodeJson(sampleEnvelope(given).metadataForJsonStorage(storedAtNs)));
        expect(parseStrictJson(Buffer.from(text))).toEqual(
          parseStrictJson(Buffer.from(encodeJson(sampleEnvelope(given).metadataForJsonStorage(storedAtNs)))),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("FW-META-01 a second sink gets its own storage times", () => {
    const envelope = sampleEnvelope({ position: samplePosition });
    expect(envelope.metadataJsonText(receivedNs)).toContain(`"stored_at_epoch_ns":${receivedNs}}`);
    expect(envelope.metadataJsonText(receivedNs + 1n)).toContain(`"stored_at_epoch_ns":${receivedNs + 1n}}`);
    expect(envelope.metadataJsonText()).toContain('"stored_at":null,"stored_at_epoch_ns":null}');
  });
});

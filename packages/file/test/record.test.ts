import { createHash } from "node:crypto";
import { type Envelope, SerializationError } from "@sinks/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOfLine, recordText, storedIdentity } from "../src/record.js";
import { createdNs, message } from "./fixture.js";

const storedAtNs = 1_800_000_000_000_000_001n;
const plain = { payload_mode: "json_or_envelope", include_metadata: false } as const;
const record = (made: Envelope, options = plain) => JSON.parse(recordText(made, options, storedAtNs)) as Record<string, unknown>;
const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex");

test("FW-FILE-08 the record holds every field of the contract and no other", () => {
  const body = '{"order_id":"O-1"}';
  expect(record(message(7, body, { messageId: "id-7", priority: "high", classification: "internal", labels: ["a", "b"] }))).toEqual({
    schema: "nats_sinks.file.message.v1",
    schema_version: 1,
    idempotency_key: `js:1:::EVENTS:${createdNs}:7`,
    subject: "events.a",
    stream: "EVENTS",
    stream_sequence: 7,
    consumer: "sink",
    consumer_sequence: 7,
    message_id: "id-7",
    priority: "high",
    classification: "internal",
    labels: "a;b",
    labels_list: ["a", "b"],
    mission_metadata: null,
    security_labels: null,
    custody: null,
    payload: { order_id: "O-1" },
    payload_info: { original_format: "json", wrapped: false, sha256: sha256(body), size_bytes: body.length },
  });
});

test("FW-FILE-08 what is absent is null, without labels the text is null and the list empty", () => {
  const bare = record(
    message(1, "x", { stream: null, consumer: null, streamSequence: null, consumerSequence: null, streamCreatedAt: null, messageId: "m" }),
  );
  expect(bare).toMatchObject({
    stream: null,
    consumer: null,
    stream_sequence: null,
    consumer_sequence: null,
    priority: null,
    classification: null,
  });
  expect([bare["labels"], bare["labels_list"]]).toEqual([null, []]);
  expect(bare["idempotency_key"]).toBe("id:1::m");
});

test("FW-FILE-08 a withheld body has payload null and says so", () => {
  const withheld = record(message(1, "", { headers: { "Nats-Msg-Size": "100" } }));
  expect(withheld["payload"]).toBeNull();
  expect(withheld["payload_info"]).toEqual({ original_format: "omitted", wrapped: false, sha256: null, size_bytes: 0 });
});

test("FW-PAY-06 numbers keep their spelling and sequences their digits", () => {
  const body = '{"a":123456789012345678901234567890,"b":1.10,"c":1E400,"d":-0.0}';
  const text = recordText(message(18_446_744_073_709_551_615n, body), plain, storedAtNs);
  expect(text).toContain(`"payload":${body}`);
  expect(text).toContain('"stream_sequence":18446744073709551615');
});

test("FW-FILE-09 a record is one line, whatever white space the payload has", () => {
  const body = '{\r\n  "a": "x\\ny",\n\t"b": [1,\n2]\r\n}';
  const text = recordText(message(1, body), { payload_mode: "json_or_envelope", include_metadata: true }, storedAtNs);
  expect(text).not.toMatch(/[\r\n]/);
  expect((JSON.parse(text) as { payload: unknown }).payload).toEqual(JSON.parse(body));
});

test("FW-PAY-01 bodies that are not JSON are wrapped, and strict modes refuse them", () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  expect(record(message(1, bytes))["payload"]).toEqual({
    _nats_sinks: { payload_envelope_version: 1, payload_format: "bytes", payload_encoding: "base64", sha256: sha256(bytes), size_bytes: 3 },
    payload: "//4A",
  });
  expect(record(message(1, "plain é"))["payload_info"]).toMatchObject({ original_format: "text", wrapped: true });
  expect(() => recordText(message(1, "plain"), { payload_mode: "json_only", include_metadata: false }, storedAtNs)).toThrow(
    SerializationError,
  );
});

test("FW-META-01 the snapshot is part of the record when asked for and carries the time of storage", () => {
  const with_ = JSON.parse(recordText(message(1), { payload_mode: "json_or_envelope", include_metadata: true }, storedAtNs)) as {
    metadata: { metadata_version: number; jetstream: { stream: string }; timestamps: { stored_at: string } };
  };
  expect(with_.metadata.metadata_version).toBe(1);
  expect(with_.metadata.jetstream.stream).toBe("EVENTS");
  expect(with_.metadata.timestamps.stored_at).toBe("2027-01-15T08:00:00.000000001Z");
  expect(record(message(1))).not.toHaveProperty("metadata");
});

test("FW-FILE-05 FW-FILE-09 the identity of any message can be read back from its record", () => {
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).filter((value) => !/\p{Surrogate}/u.test(value));
  fc.assert(
    fc.property(text, text, fc.option(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })), (stream, messageId, streamSequence) => {
      const made = message(1, "body", { stream, messageId, streamSequence });
      const line = recordText(made, plain, storedAtNs);
      expect(storedIdentity(line)).toEqual({ idempotencyKey: made.idempotencyKey(), messageId, sha256: sha256("body") });
      expect(keyOfLine(Buffer.from(line))).toBe(made.idempotencyKey());
    }),
  );
});

test("FW-FILE-09 the key is found behind other spellings of a record and in long ones, and not in other documents", () => {
  const spaced = JSON.stringify(JSON.parse(recordText(message(3), plain, storedAtNs)), null, 1).replaceAll("\n", " ");
  expect(keyOfLine(Buffer.from(spaced))).toBe(`js:1:::EVENTS:${createdNs}:3`);
  const long = message(1, "x", { streamSequence: null, messageId: "m".repeat(5000) });
  expect(keyOfLine(Buffer.from(recordText(long, plain, storedAtNs)))).toBe(`id:1:EVENTS:${"m".repeat(5000)}`);
  for (const other of ["", "{", "null", "[]", '{"schema":"other","idempotency_key":"k"}', '{"schema":"nats_sinks.file.message.v1"}']) {
    expect(keyOfLine(Buffer.from(other))).toBeNull();
  }
});

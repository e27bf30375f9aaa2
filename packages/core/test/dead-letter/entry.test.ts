import { describe, expect, test } from "vitest";
import { decodeDeadLetter, decodeDoneMarker, doneSubject } from "../../src/dead-letter/entry.js";
import type { StoredDeadLetter } from "../../src/source/dead-letter-store.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function stored(body: unknown, headers: Readonly<Record<string, string>> = {}): StoredDeadLetter {
  return {
    sequence: 7,
    subject: "dlq.orders",
    time: "2026-01-01T00:00:00.000000001Z",
    header: (name) => headers[name] ?? null,
    headers: () => Object.entries(headers),
    data: body instanceof Uint8Array ? body : bytes(JSON.stringify(body)),
  };
}

const record = {
  dlq_version: 1,
  error: "the payload is not JSON",
  error_code: "payload_not_json",
  error_type: "SerializationError",
  idempotency_key: "js:1:::EVENTS:1:42",
  payload_base64: Buffer.from("não é JSON").toString("base64"),
  sink: "file",
  stream: "EVENTS",
  stream_sequence: 42,
  subject: "events.bad",
};

describe("decoding a dead letter", () => {
  test("FW-DLQ-02 the fields of a record and its payload are read", () => {
    const entry = decodeDeadLetter(stored(record, { "Nats-Msg-Id": "abc" }));
    expect(entry).toMatchObject({
      sequence: 7,
      stream: "EVENTS",
      streamSequence: 42,
      subject: "events.bad",
      errorCode: "payload_not_json",
      errorType: "SerializationError",
      error: "the payload is not JSON",
      sink: "file",
      time: "2026-01-01T00:00:00.000000001Z",
      payloadUnavailableReason: null,
    });
    expect(Buffer.from(entry.payload ?? []).toString()).toBe("não é JSON");
    expect(entry.record).not.toHaveProperty("payload_base64");
  });

  test("FW-DLQ-02 a record without a payload gives the reason", () => {
    const { payload_base64: _, ...rest } = record;
    const entry = decodeDeadLetter(stored({ ...rest, payload_unavailable_reason: "headers_only" }));
    expect(entry.payload).toBeNull();
    expect(entry.payloadUnavailableReason).toBe("headers_only");
  });

  test("FW-DLQ-02 sequences beyond 2^53 keep their digits", () => {
    const entry = decodeDeadLetter(stored(bytes('{"dlq_version":1,"subject":"a","stream_sequence":9007199254740993}')));
    expect(entry.streamSequence).toBe(9007199254740993n);
  });

  test("FW-DLQ-02 an empty body is a payload of no bytes", () => {
    expect(decodeDeadLetter(stored({ ...record, payload_base64: "" })).payload).toEqual(new Uint8Array());
  });

  test.each([
    ["bytes that are not UTF-8", new Uint8Array([0xff, 0x00])],
    ["JSON of somebody else", bytes('{"subject":"x"}')],
    ["JSON that is not an object", bytes("[1]")],
    ["an empty body", bytes("")],
  ])("FW-DLQ-02 %s keep their bytes as payload, and headers say what they can", (_, data) => {
    const entry = decodeDeadLetter(
      stored(data, { "Nats-Sinks-Original-Subject": "events.raw", "Nats-Sinks-Error-Type": "ValidationError" }),
    );
    expect(entry).toMatchObject({ record: null, payload: data, subject: "events.raw", errorType: "ValidationError", errorCode: null });
  });
});

describe("identity", () => {
  test("FW-DLQ-03 a republished entry has the identity of the first", () => {
    const first = decodeDeadLetter(stored(record, { "Nats-Msg-Id": "abc" }));
    const again = decodeDeadLetter(stored(record, { "Nats-Msg-Id": "abc-r2" }));
    expect(again.identity).toBe(first.identity);
  });

  test("FW-DLQ-03 without an id the key and the sink decide; without both each entry stands alone", () => {
    const identity = (body: object, sequence = 7): string => decodeDeadLetter({ ...stored(body), sequence }).identity;
    expect(identity(record)).toBe(identity(record, 8));
    expect(identity({ ...record, sink: "archive" })).not.toBe(identity(record));
    const { idempotency_key: _, ...rest } = record;
    expect(identity(rest, 8)).not.toBe(identity(rest, 9));
  });
});

describe("done markers", () => {
  test("FW-DLQ-10 a marker names a sequence on the done subject", () => {
    expect(doneSubject("dlq.orders")).toBe("dlq.orders.done");
    expect(decodeDoneMarker(bytes('{"sequence":12}'))).toEqual({ sequence: 12, identity: null });
    expect(decodeDoneMarker(bytes('{"sequence":12,"identity":"id:a"}'))).toEqual({ sequence: 12, identity: "id:a" });
    expect(["", "12", "null", '{"sequence":"12"}', '{"sequence":1.5}', "{"].map((text) => decodeDoneMarker(bytes(text)))).toEqual(
      Array(6).fill(null),
    );
  });
});

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeDeadLetter } from "../../src/dead-letter/entry.js";
import { buildDeadLetter, type DeadLetterContent } from "../../src/dead-letter/form.js";
import type { DeadLetterMessage } from "../../src/dead-letter/size.js";
import { createEnvelope } from "../../src/envelope/create-envelope.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import { PermanentSinkError, RetryExhaustedError, SerializationError, TemporarySinkError } from "../../src/error/errors.js";
import { envelopeOf } from "../fakes/entries.js";

const shape = { format: "json", oversize: "chunk" } as const;
const everything: DeadLetterContent = { ...shape, includePayload: true, includeHeaders: true, includeError: true };
const nothing: DeadLetterContent = { ...shape, includePayload: false, includeHeaders: false, includeError: false };
const unlimited = { messageBytes: 1_048_576, totalBytes: 1_048_576, messages: 1 };

/** The one message that carries a letter where nothing limits it. */
function letterOf(...parts: Parameters<typeof buildDeadLetter>): DeadLetterMessage {
  const [message] = buildDeadLetter(...parts).messages(unlimited) ?? [];
  if (message === undefined) throw new Error("the letter does not fit");
  return message;
}

function textOf(letter: DeadLetterMessage): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(letter.body);
}

function recordOf(letter: DeadLetterMessage): Record<string, unknown> {
  return JSON.parse(textOf(letter)) as Record<string, unknown>;
}

const envelope = envelopeOf({
  sequence: 42,
  consumerSequence: 40,
  count: 3,
  subject: "events.a",
  body: '{"n":1}',
  headers: { "Nats-Msg-Id": "m-1", Team: "x" },
});
const error = new PermanentSinkError("value too long", { code: "permanent", destinationCode: "22001" });
const fixed = [
  "classification",
  "consumer",
  "consumer_sequence",
  "delivery_count",
  "destination_code",
  "dlq_version",
  "error_code",
  "idempotency_key",
  "idempotency_key_unavailable_reason",
  "labels",
  "message_id",
  "payload",
  "payload_sha256",
  "pending",
  "priority",
  "redelivered",
  "sink",
  "stream",
  "stream_created_at",
  "stream_sequence",
  "subject",
];

describe("the record", () => {
  test("FW-DLQ-02 holds the facts of the message and of its failure", () => {
    const record = recordOf(letterOf(envelope, error, "orders", everything));
    expect(record).toMatchObject({
      dlq_version: 1,
      subject: "events.a",
      stream: "EVENTS",
      stream_created_at: "2026-01-01T00:00:00Z",
      consumer: "sink",
      stream_sequence: 42,
      consumer_sequence: 40,
      message_id: "m-1",
      priority: null,
      classification: null,
      labels: [],
      redelivered: true,
      delivery_count: 3,
      pending: null,
      idempotency_key: envelope.idempotencyKey(),
      idempotency_key_unavailable_reason: null,
      sink: "orders",
      error_code: "permanent",
      destination_code: "22001",
      error_type: "PermanentSinkError",
      error: "value too long",
      payload_base64: Buffer.from('{"n":1}').toString("base64"),
      payload_sha256: createHash("sha256").update('{"n":1}').digest("hex"),
    });
  });

  test("FW-DLQ-02 is compact JSON with sorted keys at every depth", () => {
    const text = textOf(letterOf(envelope, error, "orders", everything));
    expect(text).toBe(JSON.stringify(JSON.parse(text)));
    const check = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      if (!Array.isArray(value)) expect(Object.keys(value)).toEqual(Object.keys(value).sort());
      Object.values(value).forEach(check);
    };
    check(JSON.parse(text));
  });

  test.each([
    [nothing, []],
    [{ ...nothing, includeError: true }, ["error", "error_type"]],
    [{ ...nothing, includeHeaders: true }, ["headers"]],
    [{ ...nothing, includePayload: true }, ["payload_base64"]],
    [everything, ["error", "error_type", "headers", "payload_base64"]],
  ])("FW-DLQ-02 with %j it has these keys more: %j", (content, more) => {
    expect(Object.keys(recordOf(letterOf(envelope, error, "orders", content))).sort()).toEqual([...fixed, ...more].sort());
  });

  test("FW-DLQ-02 the timestamp is there only when it is known", () => {
    const timed = createEnvelope({ subject: "a", receivedAtNs: 1n, timestampNs: 1_700_000_000_123_456_789n });
    expect(recordOf(letterOf(timed, error, "s", nothing))["timestamp"]).toBe("2023-11-14T22:13:20.123456789Z");
    expect(recordOf(letterOf(envelope, error, "s", nothing))).not.toHaveProperty("timestamp");
  });

  test("FW-DLQ-02 a withheld body has a reason instead of bytes and no digest; its key still comes from the sequence", () => {
    const headersOnly = envelopeOf({ sequence: 7, body: "", headers: { "Nats-Msg-Size": "900" } });
    const record = recordOf(letterOf(headersOnly, error, "s", everything));
    expect(record).toMatchObject({ payload_unavailable_reason: "headers_only", payload_sha256: null });
    expect(record).not.toHaveProperty("payload_base64");
    expect(record["idempotency_key"]).toMatch(/^js:1:/);
  });

  test("FW-DLQ-02 FW-ENV-08 a message that no key can be made of says why and can still be published", () => {
    const keyless = createEnvelope({ subject: "a", receivedAtNs: 1n, headers: { "Nats-Msg-Size": "900" } });
    const letter = letterOf(keyless, error, "s", everything);
    expect(recordOf(letter)).toMatchObject({ idempotency_key: null, idempotency_key_unavailable_reason: "payload_omitted" });
    expect(letter.id).toMatch(/^[0-9a-f]{64}$/);
  });

  test("FW-DLQ-02 the code of the destination is that of the failure itself when retries were exhausted around it", () => {
    const cause = new TemporarySinkError("deadlock", { destinationCode: "40P01" });
    const record = recordOf(letterOf(envelope, new RetryExhaustedError("x", { cause }), "s", nothing));
    expect(record).toMatchObject({ error_code: "retry_exhausted", destination_code: "40P01" });
    expect(
      recordOf(letterOf(envelope, new RetryExhaustedError("x", { cause: new Error("y") }), "s", nothing))["destination_code"],
    ).toBeNull();
  });

  test("FW-ENV-05 sequences beyond 2^53 keep their digits", () => {
    const big = envelopeOf({ sequence: 18_446_744_073_709_551_615n });
    expect(textOf(letterOf(big, error, "s", nothing))).toContain('"stream_sequence":18446744073709551615');
  });

  test("FW-ENV-03 a message whose headers cannot be parsed gives a dead letter, not an exception", () => {
    // As ingestion makes it: no headers, and the reason is the error itself.
    const broken = envelopeOf({ sequence: 9 });
    const record = recordOf(letterOf(broken, new SerializationError("x", { code: "headers_malformed" }), "s", everything));
    expect(record).toMatchObject({ error_code: "headers_malformed", error_type: "SerializationError" });
  });

  test("FW-DLQ-02 the reader gets back what was written", () => {
    const letter = letterOf(envelope, error, "orders", everything);
    const stored = {
      sequence: 1,
      subject: "dlq",
      time: "t",
      data: letter.body,
      header: (name: string) => letter.headers.get(name) ?? null,
      headers: () => letter.headers,
    };
    const entry = decodeDeadLetter(stored);
    expect(entry).toMatchObject({ stream: "EVENTS", streamSequence: 42, subject: "events.a", errorCode: "permanent", sink: "orders" });
    expect(new TextDecoder().decode(entry.payload ?? new Uint8Array())).toBe('{"n":1}');
  });
});

describe("headers and id", () => {
  test("FW-DLQ-03 name the original subject, and the error only when it is included", () => {
    const full = letterOf(envelope, error, "s", everything);
    expect([...full.headers]).toEqual([
      ["Nats-Sinks-Original-Subject", "events.a"],
      ["Nats-Sinks-Error-Type", "PermanentSinkError"],
    ]);
    expect([...letterOf(envelope, error, "s", nothing).headers.keys()]).toEqual(["Nats-Sinks-Original-Subject"]);
  });

  test("FW-DLQ-03 the id is one for a message and sink, and another for any other", () => {
    const id = (of: Envelope, sink: string): string => letterOf(of, error, sink, nothing).id;
    expect(id(envelope, "s")).toBe(id(envelopeOf({ sequence: 42, subject: "other", count: 9 }), "s"));
    expect(new Set([id(envelope, "s"), id(envelope, "t"), id(envelopeOf({ sequence: 43 }), "s")]).size).toBe(3);
    const key = envelope.idempotencyKey();
    expect(id(envelope, "s")).toBe(
      createHash("sha256")
        .update(JSON.stringify([key, envelope.stream, envelope.consumer, "s"]))
        .digest("hex"),
    );
  });

  test.each([
    ["orders.ünïcode.日本", "orders.%C3%BCn%C3%AFcode.%E6%97%A5%E6%9C%AC"],
    ["orders.100%", "orders.100%"],
    ["a:b.c;d", "a:b.c;d"],
    ["a\u0001b", "a%01b"],
    ["a\u007fb", "a%7Fb"],
  ])("FW-DLQ-03 the subject %j stands in its header as %j", (subject, expected) => {
    expect(letterOf(envelopeOf({ sequence: 1, subject }), error, "s", nothing).headers.get("Nats-Sinks-Original-Subject")).toBe(expected);
  });

  test("FW-DLQ-03 whatever subject and error there are, headers are single printable ASCII lines and the body is strict UTF-8 JSON", () => {
    const subjects = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
      .filter((text) => !/[\0\t\n\f\r \p{Surrogate}]/u.test(text));
    const wild = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 40 });
    fc.assert(
      fc.property(subjects, wild, wild, wild, fc.uint8Array({ maxLength: 50 }), (subject, text, code, name, body) => {
        const hostile = Object.assign(new PermanentSinkError(text, { code, destinationCode: code }), { name });
        const of = createEnvelope({ subject, data: body, receivedAtNs: 1n, stream: "S", streamSequence: 1n });
        const letter = letterOf(of, hostile, "s", everything);
        for (const value of letter.headers.values()) expect(value).toMatch(/^[\x21-\x7e]*$/);
        const record = recordOf(letter);
        expect(record["subject"]).toBe(subject);
        expect(record["error"]).toBe(Buffer.from(text, "utf8").toString("utf8"));
        expect(Buffer.from(record["payload_base64"] as string, "base64")).toEqual(Buffer.from(body));
      }),
    );
  });
});

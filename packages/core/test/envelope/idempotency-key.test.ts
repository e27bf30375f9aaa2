import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentKey, digestKey, encodeKeyPart, jetStreamKeyPrefix, messageIdKey } from "../../src/envelope/idempotency-key.js";
import { sampleEnvelope, samplePosition, thrownBy } from "./sample-envelope.js";

const created = 1_767_323_045_123_456_789n;
const hostile = fc.oneof(
  fc.string({
    unit: fc.constantFrom(":", "%", "a", "A", "3", "\u00e9", "\ud800", "\udc00", "\ufffd", "\u{1f600}", ".", "_", "-", "~", " "),
  }),
  fc.string({ unit: "binary" }),
);

describe("FW-ENV-06 idempotency key", () => {
  test("FW-ENV-06 the sequence is preferred, with the incarnation's creation time in ns", () => {
    const envelope = sampleEnvelope({ headers: [["Nats-Msg-Id", "id-1"]] });
    expect(envelope.idempotencyKey()).toBe(`js:1:::EVENTS:${created}:42`);
  });

  test("FW-ENV-06 account and domain come from the configured origin, never from the ack subject", () => {
    const reply = "$JS.ACK.otherdomain.ACCOUNTHASH.EVENTS.sink.1.42.7.1767225600123456789.3.rnd";
    expect(sampleEnvelope({ reply }).idempotencyKey()).toBe(`js:1:::EVENTS:${created}:42`);
    expect(sampleEnvelope({ reply, origin: { account: "A:1", domain: "hub" } }).idempotencyKey()).toBe(
      `js:1:A%3A1:hub:EVENTS:${created}:42`,
    );
  });

  test("FW-ENV-06 without a sequence the id counts, then subject and body", () => {
    expect(sampleEnvelope({ position: null, headers: [["Nats-Msg-Id", "a:b/\u00e9"]] }).idempotencyKey()).toBe(
      "id:1:EVENTS:a%3Ab%2F%C3%A9",
    );
    expect(sampleEnvelope({ position: null, origin: { stream: null }, headers: [["message-id", "x"]] }).idempotencyKey()).toBe("id:1::x");
    const hex = createHash("sha256").update('{"n":1}').digest("hex");
    expect(sampleEnvelope({ position: null }).idempotencyKey()).toBe(`sha256:1:events.a:${hex}`);
  });

  test("FW-ENV-06 a sequence without a stream identifies nothing", () => {
    expect(sampleEnvelope({ origin: { stream: null }, headers: [["Nats-Msg-Id", "x"]] }).idempotencyKey()).toBe("id:1::x");
  });

  test("FW-ENV-05 a sequence beyond 2^53 keeps every digit in the key", () => {
    const position = { ...samplePosition, streamSequence: 18_446_744_073_709_551_615n };
    expect(sampleEnvelope({ position }).idempotencyKey()).toBe(`js:1:::EVENTS:${created}:18446744073709551615`);
  });

  test("FW-ENV-07 another creation time of the same stream gives another key, an unknown one an empty part", () => {
    const later = sampleEnvelope({ origin: { streamCreatedAt: "2026-01-02T03:04:05.123456790Z" } });
    expect(later.idempotencyKey()).toBe(`js:1:::EVENTS:${created + 1n}:42`);
    expect(sampleEnvelope({ origin: { streamCreatedAt: null } }).idempotencyKey()).toBe("js:1:::EVENTS::42");
  });

  test("FW-ENV-07 two spellings of one creation time give one key", () => {
    const zoned = sampleEnvelope({ origin: { streamCreatedAt: "2026-01-02T04:04:05.123456789+01:00" } });
    expect(zoned.idempotencyKey()).toBe(sampleEnvelope().idempotencyKey());
    expect(zoned.streamCreatedAt).toBe("2026-01-02T04:04:05.123456789+01:00");
  });

  test("FW-ENV-08 no sequence, no id and a withheld body: asking for the key is a ValidationError", () => {
    const envelope = sampleEnvelope({ position: null, data: "", headers: [["Nats-Msg-Size", "12"]] });
    const error = thrownBy(() => envelope.idempotencyKey());
    expect(error.name).toBe("ValidationError");
    expect(error.message).toContain("events.a");
    expect(sampleEnvelope({ position: null, data: "" }).idempotencyKey()).toMatch(/^sha256:1:events\.a:e3b0c442/);
  });

  test("FW-ENV-09 the key is equal on every redelivery", () => {
    const again = { ...samplePosition, consumerSequence: 99n, deliveryCount: 5, pending: 0 };
    const redelivered = sampleEnvelope({ position: again, receivedAtNs: 9n, reply: "$JS.ACK.EVENTS.sink.5.42.99.1.0" });
    expect(redelivered.idempotencyKey()).toBe(sampleEnvelope().idempotencyKey());
  });

  test("FW-ENV-10 a key is shortened to its full digest only", () => {
    const key = sampleEnvelope().idempotencyKey();
    expect(digestKey(key)).toBe(createHash("sha256").update(key).digest("hex"));
    expect(digestKey(key)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("FW-ENV-06 an encoded part holds nothing but the allowed characters and can be read back (property)", () => {
    fc.assert(
      fc.property(hostile, (part) => {
        const encoded = encodeKeyPart(part);
        expect(encoded).toMatch(/^(?:[A-Za-z0-9_.-]|%[0-9A-F]{2})*$/);
        if (!/\p{Surrogate}/u.test(part)) expect(decodeURIComponent(encoded)).toBe(part);
      }),
    );
  });

  test("FW-ENV-06 encoding is injective, also over lone surrogates (property)", () => {
    fc.assert(
      fc.property(hostile, hostile, (one, two) => one === two || encodeKeyPart(one) !== encodeKeyPart(two)),
      { numRuns: 2000 },
    );
    expect(new Set(["\ud800", "\udc00", "\ufffd", "\ud800\udc00", "%ED%A0%80"].map(encodeKeyPart)).size).toBe(5);
  });

  test("FW-ENV-06 different inputs give different keys of every form (property)", () => {
    const tuple = fc.tuple(hostile, hostile, hostile, fc.option(fc.bigInt({ min: 0n, max: 20n })), fc.bigInt({ min: 0n, max: 20n }));
    const all = ([account, domain, stream, createdNs, sequence]: [string, string, string, bigint | null, bigint]) => [
      `${jetStreamKeyPrefix(account, domain, stream, createdNs)}${sequence}`,
      messageIdKey(account, domain),
      contentKey(stream, "00".repeat(32)),
    ];
    fc.assert(
      fc.property(tuple, tuple, (one, two) => {
        const [js1, id1, sha1] = all(one);
        const [js2, id2, sha2] = all(two);
        expect(js1 === js2).toBe(one.every((part, position) => part === two[position]));
        expect(id1 === id2).toBe(one[0] === two[0] && one[1] === two[1]);
        expect(sha1 === sha2).toBe(one[2] === two[2]);
        expect(new Set([js1, id1, sha1]).size).toBe(3);
      }),
      { numRuns: 500 },
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Envelope } from "../../src/envelope/envelope.js";
import { envelopeFromSnapshot } from "../../src/envelope/envelope-from-snapshot.js";
import type { JsonObject } from "../../src/envelope/json.js";
import { compileMessageMetadata, defaultMessageMetadataSection } from "../../src/envelope/message-metadata.js";
import { parseStrictJson } from "../../src/envelope/strict-json.js";
import { fieldNames, sampleEnvelope, samplePosition, thrownBy } from "./sample-envelope.js";

function fieldsOf(envelope: Envelope): object {
  return {
    ...Object.fromEntries(fieldNames.map((name) => [name, envelope[name]])),
    headers: [...envelope.headers],
    body: Buffer.from(envelope.data).toString("hex"),
    key: envelope.idempotencyKey(),
  };
}

/** Stores the snapshot as text and reads it back. */
function stored(envelope: Envelope): JsonObject {
  return parseStrictJson(Buffer.from(envelope.metadataJsonText(5n))) as JsonObject;
}

describe("FW-META-09 the way back", () => {
  test("FW-META-09 a stored record yields the same fields, security labels, custody and mission metadata among them", () => {
    const known = {
      missionMetadata: { a: { b: [1, "x"] } },
      securityLabels: { owner: "o", labels: ["l"] },
      custody: { schema: "nats_sinks.custody.v1", payload_hash: "00" },
    };
    const envelope = sampleEnvelope({
      known,
      origin: { account: "A", domain: "hub" },
      headers: [
        ["Nats-Msg-Id", "id"],
        ["Nats-Sinks-Priority", "high"],
        ["Nats-Sinks-Labels", "a;b"],
      ],
      position: { ...samplePosition, streamSequence: 2n ** 63n, deliveryCount: 4 },
    });
    const again = envelopeFromSnapshot(stored(envelope), envelope.data, { account: "A", custody: known.custody });
    expect(fieldsOf(again)).toEqual(fieldsOf(envelope));
    expect(again.metadataJsonText(5n)).toBe(envelope.metadataJsonText(5n));
  });

  test("FW-META-09 the snapshot object itself will do", () => {
    const envelope = sampleEnvelope();
    expect(fieldsOf(envelopeFromSnapshot(envelope.metadataForJsonStorage(), envelope.data))).toEqual(fieldsOf(envelope));
  });

  test("FW-META-09 a withheld body stays withheld, an empty one present", () => {
    const withheld = sampleEnvelope({ data: "", headers: [["Nats-Msg-Size", "7"]] });
    const again = envelopeFromSnapshot(stored(withheld), null);
    expect(fieldsOf(again)).toEqual(fieldsOf(withheld));
    expect(again.payloadForJsonStorage().originalFormat).toBe("omitted");
    const empty = sampleEnvelope({ data: "" });
    expect(fieldsOf(envelopeFromSnapshot(stored(empty), new Uint8Array(0)))).toEqual(fieldsOf(empty));
  });

  test("FW-META-09 values are those of the record, whatever the configuration says since", () => {
    const envelope = sampleEnvelope();
    const messageMetadata = compileMessageMetadata({
      ...defaultMessageMetadataSection,
      rules: [{ subject: ">", priority: "new", labels: ["new"] }],
    });
    const again = envelopeFromSnapshot(stored(envelope), envelope.data, { messageMetadata, idempotencyKey: "js:1:old:::1:2" });
    expect([again.priority, again.labels, again.idempotencyKey()]).toEqual([null, [], "js:1:old:::1:2"]);
  });

  test("FW-META-09 a record of the earlier project lacks the added keys and still reads", () => {
    const { payload, jetstream, ...rest } = stored(sampleEnvelope()) as Record<string, JsonObject>;
    const { stream_created_at, delivery_count, ...older } = jetstream as JsonObject;
    expect([payload, stream_created_at, delivery_count]).not.toContain(undefined);
    const document = { ...rest, jetstream: { ...older, redelivered: true } } as JsonObject;
    const again = envelopeFromSnapshot(document, Buffer.from("x"));
    expect([again.streamCreatedAt, again.deliveryCount, again.redelivered, again.timestampNs, again.payloadPresent]).toEqual([
      null,
      null,
      true,
      1_767_225_600_123_456_789n,
      true,
    ]);
  });

  test("FW-META-09 every ingested message comes back (property)", () => {
    const value = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
    const header = fc.tuple(
      fc.constantFrom("Nats-Msg-Id", "Nats-Msg-Size", "Nats-Sinks-Priority", "Nats-Sinks-Labels", "X-A", "x-a", "__proto__"),
      fc.oneof(value, fc.constantFrom("12", "0", "a;b")),
    );
    const fields = fc.record({
      subject: fc.constantFrom("a", "a.b", "\u00e9.\u{1f600}"),
      reply: fc.option(value),
      data: fc.constantFrom("", "x"),
      headers: fc.array(header, { maxLength: 6 }),
      receivedAtNs: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      position: fc.record({
        streamSequence: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        consumerSequence: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
        timestampNs: fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })),
        deliveryCount: fc.option(fc.nat()),
        pending: fc.option(fc.nat()),
      }),
    });
    fc.assert(
      fc.property(fields, (given) => {
        const envelope = sampleEnvelope(given);
        const again = envelopeFromSnapshot(stored(envelope), envelope.payloadOmitted ? null : envelope.data);
        expect(fieldsOf(again)).toEqual(fieldsOf(envelope));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["metadata_version", { metadata_version: 2 }],
    ["subject", { subject: null }],
    ["subject", { subject: 5 }],
    ["headers.A", { headers: { A: 1 } }],
    ["headers", { headers: [] }],
    ["jetstream.stream_sequence", { jetstream: { stream_sequence: "secret" } }],
    ["jetstream.redelivered", { jetstream: { redelivered: "secret" } }],
    ["message_metadata.labels", { message_metadata: { labels: "secret" } }],
    ["timestamps.received_at_epoch_ns", { timestamps: {} }],
    ["timestamps.received_at_epoch_ns", { timestamps: { received_at_epoch_ns: 1.5 } }],
    ["payload.omitted", { payload: { omitted: true } }],
  ])("FW-META-09 a record with a wrong %s is refused by that path", (path, changes) => {
    const error = thrownBy(() => envelopeFromSnapshot({ ...stored(sampleEnvelope()), ...(changes as JsonObject) }, Buffer.from("body")));
    expect(error.name).toBe("ValidationError");
    expect(error.message).toContain(path);
    expect(error.message).not.toContain("secret");
  });

  test("FW-META-09 a record whose body is missing is refused", () => {
    expect(thrownBy(() => envelopeFromSnapshot(stored(sampleEnvelope()), null)).name).toBe("ValidationError");
  });
});

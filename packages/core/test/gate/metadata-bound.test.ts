import fc from "fast-check";
import { expect, test } from "vitest";
import { headerMapSizes } from "../../src/gate/header-sizes.js";
import { metadataBytesAtMost } from "../../src/gate/metadata-bound.js";
import { sampleEnvelope } from "../envelope/sample-envelope.js";

const text = fc.string({
  unit: fc.oneof(fc.constant("\u0001"), fc.constant('"'), fc.constant("ä"), fc.constant("😀"), fc.constant("a")),
  maxLength: 60,
});
const value = text.map((content) => content.trim());
const reserved = fc.constantFrom(
  "Nats-Msg-Id",
  "Nats-Time-Stamp",
  "Nats-Msg-Size",
  "traceparent",
  "Nats-Sinks-Priority",
  "Nats-Sinks-Labels",
);
const name = fc.oneof(reserved, fc.stringMatching(/^[A-Za-z-]{1,20}$/), fc.stringMatching(/^Nats-[A-Za-z-]{1,20}$/));

test("FW-POL-02 no snapshot is larger than its bound, whatever the headers, names and texts", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key.toLowerCase(), maxLength: 20 }),
      text,
      text,
      fc.option(text),
      (headers, subject, stream, domain) => {
        const envelope = sampleEnvelope({ headers, subject, reply: subject, origin: { stream, consumer: stream, domain } });
        const bound = metadataBytesAtMost(envelope, headerMapSizes(envelope.headers));
        expect(Buffer.byteLength(envelope.metadataJsonText())).toBeLessThanOrEqual(bound);
      },
    ),
  );
});

test("FW-POL-02 an ordinary message is far below the usual limit, and one with metadata of its own has no bound", () => {
  expect(metadataBytesAtMost(sampleEnvelope(), null)).toBeLessThan(16_384);
  expect(metadataBytesAtMost(sampleEnvelope({ known: { missionMetadata: { a: 1 } } }), null)).toBe(Number.POSITIVE_INFINITY);
});

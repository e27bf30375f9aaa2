import { createEnvelope, type Envelope, type EnvelopeFields, isErrorKind } from "@sinks/core";
import { expect, test } from "vitest";
import { type EnvelopeRowOptions, EnvelopeRows } from "../src/envelope/envelope-row.js";
import type { Form } from "../src/render/built-write.js";

const form = { cutsAtRepeatedConflict: false } as Form;
const options: EnvelopeRowOptions = { payload_type: "jsonb", payload_mode: "json_or_envelope", include_metadata: false, nul: "reject" };

function message(body: string | Uint8Array, fields: Partial<EnvelopeFields> = {}): Envelope {
  return createEnvelope({
    subject: "events.a",
    data: typeof body === "string" ? Buffer.from(body) : body,
    stream: "EVENTS",
    consumer: "sink",
    streamCreatedAt: "2026-05-18T12:00:00.123456789Z",
    streamSequence: 7n,
    consumerSequence: 7n,
    timestampNs: 1_779_105_700_000_000_001n,
    receivedAtNs: 1n,
    deliveryCount: 1,
    pending: 0,
    ...fields,
  });
}

function row(body: string | Uint8Array, given: Partial<EnvelopeRowOptions> = {}, fields: Partial<EnvelopeFields> = {}) {
  return new EnvelopeRows({ ...options, ...given }, () => 5n).row(message(body, fields), form).values;
}

test("WO-ENV-01 FW-PAY-06 a row holds the message as it came, digits intact", () => {
  const text = '{"n":9007199254740993,"d":0.1000000000000000055511151231257827}';
  expect(
    row(
      text,
      {},
      {
        headers: [
          ["X-A", "1"],
          ["x-a", "2"],
        ],
        priority: "high",
        labels: ['a"b', "c\\d"],
      },
    ),
  ).toEqual([
    "EVENTS",
    "1779105600123456789",
    "7",
    "events.a",
    null,
    "1779105700000000001",
    "high",
    null,
    '{"a\\"b","c\\\\d"}',
    '{"X-A":"1,2"}',
    text,
    null,
    null,
    null,
    null,
  ]);
});

test("WO-ENV-01 a stream of unknown creation time is 0, another incarnation another key", () => {
  const rows = new EnvelopeRows(options, () => 0n);
  expect(rows.identity(message("1", { streamCreatedAt: null }))).toEqual(["EVENTS", "0", "7"]);
  expect(rows.identity(message("1"))).toEqual(["EVENTS", "1779105600123456789", "7"]);
  expect(rows.identity(message("1", { streamCreatedAt: "2026-05-18T12:00:00.123456790Z" }))).toEqual([
    "EVENTS",
    "1779105600123456790",
    "7",
  ]);
});

test("WO-ENV-01 bytea holds the bytes as delivered, also those that are no text", () => {
  expect(row(new Uint8Array([0, 255, 16]), { payload_type: "bytea" })[10]).toBe("\\x00ff10");
});

function refused(body: string, given: Partial<EnvelopeRowOptions> = {}, fields: Partial<EnvelopeFields> = {}): string {
  try {
    row(body, given, fields);
  } catch (error) {
    if (isErrorKind(error, "PermanentSinkError")) return error.message;
    throw error;
  }
  return "stored";
}

test.each([
  ["an escape", '{"a":"x\\u0000y"}'],
  ["a name", '{"a\\u0000":1}'],
  ["raw, in text that is wrapped", "raw \0 text"],
])("WO-VAL-04 FW-PAY-08 U+0000 in a payload rejects that message alone: %s", (_, body) => {
  expect(refused(body)).toContain("U+0000");
  expect(refused(body)).not.toContain("raw");
});

test("WO-VAL-04 an escaped backslash before u0000 is no such character", () => {
  expect(refused('{"a":"\\\\u0000"}')).toBe("stored");
});

test("WO-VAL-04 nul: strip leaves the character out and nothing else", () => {
  expect(row('{"a":"x\\u0000y\\\\u0000\\u00e4"}', { nul: "strip" })[10]).toBe('{"a":"xy\\\\u0000\\u00e4"}');
});

test("WO-VAL-05 half of a surrogate pair is refused, whatever is stripped", () => {
  expect(refused('{"a":"\\ud800"}', { nul: "strip" })).toContain("surrogate");
  expect(refused('{"a":"\\ud83d\\ude00"}')).toBe("stored");
});

test("WO-ENV-01 text and bytea hold what jsonb cannot", () => {
  expect(refused('{"a":"\\u0000"}', { payload_type: "text" })).toBe("stored");
  expect(refused("raw \0", { payload_type: "bytea" })).toBe("stored");
});

test("WO-ENV-01 a message outside JetStream is refused", () => {
  expect(refused("1", {}, { stream: null, streamSequence: null })).toContain("stream sequence");
});

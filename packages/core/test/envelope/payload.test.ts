import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PayloadMode } from "../../src/envelope/payload.js";
import { parseStrictJson } from "../../src/envelope/strict-json.js";
import { sampleEnvelope, thrownBy } from "./sample-envelope.js";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const json = Buffer.from('{"n": 12345678901234567890, "d": 0.10000000000000000001}');
const text = Buffer.from("plain text \u2013 \u00e9");
const binary = Buffer.from([0xff, 0xfe, 0x00, 0x01]);
const modes: readonly PayloadMode[] = ["json_or_envelope", "json_only", "text_envelope", "bytes_envelope"];

const textWrapper = (bytes: Buffer) =>
  `{"_nats_sinks":{"payload_envelope_version":1,"payload_format":"text","payload_encoding":"utf-8","sha256":"${sha256(bytes)}","size_bytes":${bytes.length}},"payload":${JSON.stringify(bytes.toString())}}`;
const bytesWrapper = (bytes: Buffer) =>
  `{"_nats_sinks":{"payload_envelope_version":1,"payload_format":"bytes","payload_encoding":"base64","sha256":"${sha256(bytes)}","size_bytes":${bytes.length}},"payload":"${bytes.toString("base64")}"}`;

/** What a mode makes of a body: the text, or the code of the error. */
function outcome(bytes: Uint8Array, mode: PayloadMode): string | undefined {
  try {
    return sampleEnvelope({ data: bytes }).payloadForJsonStorage(mode).text;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

describe("FW-PAY-01 payload modes", () => {
  test.each([
    ["json_or_envelope", json.toString(), textWrapper(text), bytesWrapper(binary)],
    ["json_only", json.toString(), "payload_not_json", "payload_not_json"],
    ["text_envelope", textWrapper(json), textWrapper(text), "payload_not_text"],
    ["bytes_envelope", bytesWrapper(json), bytesWrapper(text), bytesWrapper(binary)],
  ] as const)("FW-PAY-01 %s", (mode, ofJson, ofText, ofBinary) => {
    expect([outcome(json, mode), outcome(text, mode), outcome(binary, mode)]).toEqual([ofJson, ofText, ofBinary]);
  });

  test("FW-PAY-01 the default mode is json_or_envelope", () => {
    const envelope = sampleEnvelope({ data: text });
    expect(envelope.payloadForJsonStorage()).toBe(envelope.payloadForJsonStorage("json_or_envelope"));
  });

  test("FW-PAY-01 the facts are those of the original body in every mode", () => {
    for (const [bytes, format] of [
      [json, "json"],
      [text, "text"],
      [binary, "bytes"],
    ] as const) {
      for (const mode of modes) {
        const envelope = sampleEnvelope({ data: bytes });
        if (/^payload_not/.test(outcome(bytes, mode) as string)) continue;
        const payload = envelope.payloadForJsonStorage(mode);
        const wrapped = format !== "json" || mode === "text_envelope" || mode === "bytes_envelope";
        expect([payload.originalFormat, payload.wrapped, payload.sha256, payload.sizeBytes]).toEqual([
          format,
          wrapped,
          sha256(bytes),
          bytes.length,
        ]);
      }
    }
  });

  test("FW-PAY-01 value and text say the same (property)", () => {
    const body = fc.oneof(
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
      fc.string().map((each) => Buffer.from(each)),
      fc.uint8Array().map((each) => Buffer.from(each)),
    );
    fc.assert(
      fc.property(body, fc.constantFrom<PayloadMode>("json_or_envelope", "bytes_envelope"), (bytes, mode) => {
        const payload = sampleEnvelope({ data: bytes }).payloadForJsonStorage(mode);
        expect(parseStrictJson(Buffer.from(payload.text))).toEqual(payload.value);
        expect(Object.isFrozen(payload)).toBe(true);
        if (!payload.wrapped) {
          expect(payload.text).toBe(bytes.toString());
          return;
        }
        const wrapper = JSON.parse(payload.text) as { _nats_sinks: { payload_format: string }; payload: string };
        const back = Buffer.from(wrapper.payload, wrapper._nats_sinks.payload_format === "text" ? "utf8" : "base64");
        expect(back.equals(bytes)).toBe(true);
      }),
    );
  });
});

describe("FW-PAY-02 the wrapper", () => {
  test("FW-PAY-02 is exactly the documented object", () => {
    const payload = sampleEnvelope({ data: text }).payloadForJsonStorage();
    expect(JSON.parse(payload.text)).toStrictEqual({
      _nats_sinks: {
        payload_envelope_version: 1,
        payload_format: "text",
        payload_encoding: "utf-8",
        sha256: sha256(text),
        size_bytes: text.length,
      },
      payload: text.toString(),
    });
    const bytes = sampleEnvelope({ data: binary }).payloadForJsonStorage();
    expect(JSON.parse(bytes.text)).toStrictEqual({
      _nats_sinks: {
        payload_envelope_version: 1,
        payload_format: "bytes",
        payload_encoding: "base64",
        sha256: sha256(binary),
        size_bytes: 4,
      },
      payload: "//4AAQ==",
    });
  });

  test("FW-PAY-03 an empty body becomes an empty text envelope", () => {
    const payload = sampleEnvelope({ data: "" }).payloadForJsonStorage();
    expect([payload.originalFormat, payload.wrapped, payload.sizeBytes]).toEqual(["text", true, 0]);
    expect(payload.text).toBe(textWrapper(Buffer.alloc(0)));
  });

  test("FW-PAY-03 a byte order mark makes text of JSON and is kept", () => {
    const bytes = Buffer.from('\ufeff{"a":1}');
    const payload = sampleEnvelope({ data: bytes }).payloadForJsonStorage();
    expect([payload.originalFormat, (payload.value as { payload: string }).payload]).toEqual(["text", '\ufeff{"a":1}']);
  });

  test("FW-PAY-04 bytes that are not UTF-8 are never replaced", () => {
    for (const bytes of [[0xc3], [0x61, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc1, 0x81]]) {
      const envelope = sampleEnvelope({ data: Buffer.from(bytes) });
      expect(envelope.text()).toBeNull();
      expect(envelope.payloadForJsonStorage().originalFormat).toBe("bytes");
    }
  });
});

describe("FW-PAY-05 documents that look like ours", () => {
  test.each([
    '{"_nats_sinks":1}',
    '{"a":1,"_nats_sinks":{}}',
    '{"_nats_sinks_encryption":null}',
    '{"\\u005fnats_sinks":1}',
    '{"_nat\\u0073_sinks":1}',
    ' {"a":{},"\\u005f\\u006eats_sinks_encryption":2}',
  ])("FW-PAY-05 %s is wrapped as text", (document) => {
    for (const mode of ["json_or_envelope", "json_only"] as const) {
      const payload = sampleEnvelope({ data: document }).payloadForJsonStorage(mode);
      expect([payload.originalFormat, payload.wrapped, payload.text]).toEqual(["json", true, textWrapper(Buffer.from(document))]);
    }
  });

  test.each([
    '{"a":{"_nats_sinks":1}}',
    '[{"_nats_sinks":1}]',
    '"_nats_sinks"',
    '{"_nats_sinks_":1,"_Nats_sinks":2,"nats_sinks":3}',
    '{"a":"_nats_sinks"}',
  ])("FW-PAY-05 %s is data", (document) => expect(sampleEnvelope({ data: document }).payloadForJsonStorage().wrapped).toBe(false));

  test("FW-PAY-05 the mark is found behind many members", () => {
    const members = Array.from({ length: 50 }, (_, position) => `"m${position}":{"_nats_sinks":1}`);
    expect(sampleEnvelope({ data: `{${members.join(",")}}` }).payloadForJsonStorage().wrapped).toBe(false);
    expect(sampleEnvelope({ data: `{${members.join(",")},"_nats_sinks":1}` }).payloadForJsonStorage().wrapped).toBe(true);
  });
});

describe("FW-PAY-06 spelling", () => {
  test("FW-PAY-06 a JSON body is stored in the producer's own spelling", () => {
    const document = ' { "big":12345678901234567890123, "dec": 1.10000000000000000000001, "e": 1E2, "s":"\\u00e9\\/" } ';
    expect(sampleEnvelope({ data: document }).payloadForJsonStorage().text).toBe(document);
  });

  test("FW-PAY-06 the line form has no line break and means the same", () => {
    const document = '{\r\n  "a": "x\\ny",\n\t"n": 12345678901234567890\n}\n';
    const { lineText, value } = sampleEnvelope({ data: document }).payloadForJsonStorage();
    expect(lineText).not.toMatch(/[\r\n]/);
    expect(parseStrictJson(Buffer.from(lineText))).toEqual(value);
    expect(sampleEnvelope({ data: "two\nlines" }).payloadForJsonStorage().lineText).not.toContain("\n");
  });
});

describe("FW-PAY-07 failures", () => {
  test("FW-PAY-07 a failure belongs to its message, names it and holds nothing of the payload", () => {
    const good = sampleEnvelope();
    const bad = sampleEnvelope({ data: "secret words", headers: [["X-Token", "secret header"]] });
    const error = thrownBy(() => bad.payloadForJsonStorage("json_only"));
    expect([error.name, error.code]).toEqual(["SerializationError", "payload_not_json"]);
    // FW-ENV-12: subject, stream and sequence, never payload or header values.
    for (const part of ["events.a", "EVENTS", "42"]) expect(error.message).toContain(part);
    expect(error.message).not.toContain("secret");
    expect(good.payloadForJsonStorage("json_only").text).toBe('{"n":1}');
    expect(bad.payloadForJsonStorage().wrapped).toBe(true);
  });
});

describe("FW-FILE-08 a withheld body", () => {
  test.each(modes)("FW-FILE-08 under %s it is null and marked as omitted", (mode) => {
    const envelope = sampleEnvelope({ data: "", headers: [["Nats-Msg-Size", "4096"]] });
    const payload = envelope.payloadForJsonStorage(mode);
    expect({ ...payload }).toEqual({
      originalFormat: "omitted",
      wrapped: false,
      sha256: null,
      sizeBytes: 0,
      text: "null",
      lineText: "null",
      value: null,
    });
    expect(envelope.text()).toBeNull();
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NumberToken } from "../../src/envelope/json.js";
import { encodeJson } from "../../src/envelope/json-encode.js";
import { parseStrictJson } from "../../src/envelope/strict-json.js";
import { sampleEnvelope, samplePosition, thrownBy } from "../envelope/sample-envelope.js";
import { mapOf, payloadsOf, valueAt } from "./sample-map.js";

const code = (action: () => unknown) => thrownBy(action).code;
const segment = (name: string) => name.replace(/[\\.?]/g, "\\$&");

describe("FW-MAP-02 roots", () => {
  const envelope = sampleEnvelope({
    subject: "parcels.graz.9",
    data: '{"kg":12.5,"lines":[{"sku":"a"}]}',
    headers: [
      ["Nats-Msg-Id", "p-1"],
      ["X-Site", "north"],
      ["Nats-Sinks-Priority", "high"],
      ["Nats-Sinks-Classification", "open"],
      ["Nats-Sinks-Labels", "b;a"],
    ],
    known: { missionMetadata: { unit: { id: 7 } } },
  });

  test.each([
    [":payload", { kg: 12.5, lines: [{ sku: "a" }] }],
    [":payload.kg", 12.5],
    [":payload.lines.0.sku", "a"],
    [":payload_json.kg", 12.5],
    [":text", '{"kg":12.5,"lines":[{"sku":"a"}]}'],
    [":subject", "parcels.graz.9"],
    [":subject_token.1", "parcels"],
    [":subject_token.3", "9"],
    [":header.x-site", "north"],
    [":stream", "EVENTS"],
    [":stream_sequence", 42n],
    [":message_id", "p-1"],
    [":idempotency_key", "js:1:::EVENTS:1767323045123456789:42"],
    [":priority", "high"],
    [":classification", "open"],
    [":labels", ["b", "a"]],
    [":labels.1", "a"],
    [":mission.unit.id", 7],
    [":timestamp", "2026-01-01T00:00:00.123456789Z"],
    [":timestamp_ns", 1_767_225_600_123_456_789n],
    [":received_at", "2026-01-01T00:00:00.223456789Z"],
    [":delivery_count", 1],
    [":metadata.jetstream.stream_sequence", 42n],
    [":metadata.reply?", "$JS.ACK.EVENTS.sink.1.42.7.1767225600123456789.3"],
  ])("FW-MAP-02 %s", (reference, value) => {
    expect(valueAt(reference, envelope)).toEqual(value);
  });

  test("FW-MAP-02 item and index are the element at hand and its place", () => {
    const map = mapOf([{ op: "push", each: ":payload.lines", key: ":index", entry: ":item.sku" }]);
    expect(payloadsOf(map.plan(sampleEnvelope({ data: '{"lines":[{"sku":"a"},{"sku":"b"}]}' })))).toEqual([
      { op: "push", key: 0, entry: "a" },
      { op: "push", key: 1, entry: "b" },
    ]);
  });
});

describe("FW-MAP-04 what is missing", () => {
  const bare = sampleEnvelope({ subject: "a.b", data: "not json", position: null, origin: { stream: null } });

  test.each([
    ":payload",
    ":payload.kg",
    ":subject_token.3",
    ":header.x",
    ":stream",
    ":stream_sequence",
    ":message_id",
    ":priority",
    ":classification",
    ":labels.0",
    ":mission",
    ":timestamp",
    ":timestamp_ns",
    ":delivery_count",
    ":metadata.nothing",
  ])("FW-MAP-04 %s rejects the message, with a question mark it is null", (reference) => {
    const error = thrownBy(() => valueAt(reference, bare));
    expect(error).toMatchObject({ name: "ValidationError", code: "reference_missing" });
    expect(error.message).toBe(`write[0].entry: ${reference} is missing (subject "a.b", stream unknown, sequence unknown)`);
    expect(valueAt(`${reference}?`, bare)).toBeNull();
  });

  test("FW-MAP-04 a withheld body has neither payload nor text, and no key without a sequence", () => {
    const withheld = sampleEnvelope({ data: "", headers: [["Nats-Msg-Size", "9"]], position: null, origin: { stream: null } });
    for (const reference of [":payload", ":text", ":idempotency_key"])
      expect(code(() => valueAt(reference, withheld))).toBe("reference_missing");
    expect(valueAt(":payload_json", withheld)).toBeNull();
  });

  test("FW-MAP-04 a body that is not UTF-8 has no text", () => {
    expect(valueAt(":text?", sampleEnvelope({ data: Uint8Array.of(0xff) }))).toBeNull();
  });

  test("FW-MAP-04 null in the payload is a value, not missing", () => {
    expect(valueAt(":payload.a", sampleEnvelope({ data: '{"a":null}' }))).toBeNull();
    expect(valueAt(":payload", sampleEnvelope({ data: "null" }))).toBeNull();
    expect(code(() => valueAt(":payload.a.b", sampleEnvelope({ data: '{"a":null}' })))).toBe("reference_missing");
  });

  test("FW-MAP-04 FW-ERR-07 the error names the place, never a value", () => {
    const error = thrownBy(() => valueAt(":payload.a.b", sampleEnvelope({ data: '{"a":"secret-value"}' })));
    expect(error.message).not.toContain("secret-value");
  });

  test("FW-PAY-05 a document with a reserved root is a payload like any other", () => {
    expect(valueAt(":payload._nats_sinks", sampleEnvelope({ data: '{"_nats_sinks":1}' }))).toBe(1);
    expect(valueAt(":payload_json.payload", sampleEnvelope({ data: '{"_nats_sinks":1}' }))).toBe('{"_nats_sinks":1}');
  });
});

describe("FW-MAP-02 paths", () => {
  const json = fc.jsonValue({ maxDepth: 3 });

  test("FW-MAP-02 a path to any member of any document gives that member", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }), json, (names, leaf) => {
        const document = names.reduceRight<unknown>((value, name) => {
          const object = Object.create(null) as Record<string, unknown>;
          Object.defineProperty(object, name, { value, enumerable: true });
          return object;
        }, leaf);
        const envelope = sampleEnvelope({ data: JSON.stringify(document) });
        const found = valueAt(`:payload.${names.map(segment).join(".")}`, envelope);
        expect(encodeJson(found)).toBe(encodeJson(parseStrictJson(Buffer.from(JSON.stringify(leaf)))));
      }),
    );
  });

  test("FW-MAP-02 a path never leads to anything that the document does not hold", () => {
    const names = fc.oneof(
      fc.constantFrom("__proto__", "constructor", "prototype", "toString", "length", "0", "text", "hasOwnProperty"),
      fc.string({ minLength: 1 }),
    );
    fc.assert(
      fc.property(json, fc.array(names, { minLength: 1, maxLength: 3 }), (document, path) => {
        const text = JSON.stringify(document);
        const held = path.reduce<unknown>(
          (value, name) => {
            if (typeof value !== "object" || value === null) return undefined;
            if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
            return Object.getOwnPropertyDescriptor(value, name)?.value;
          },
          parseStrictJson(Buffer.from(text)),
        );
        expect(valueAt(`:payload.${path.map(segment).join(".")}?`, sampleEnvelope({ data: text }))).toEqual(held ?? null);
      }),
    );
  });

  test.each([
    ":payload.__proto__",
    ":payload.constructor",
    ":payload.a.length",
    ":payload.a.push",
    ":payload.s.length",
    ":payload.s.0",
    ":payload.big.text",
    ":payload.a.01",
    ":payload.a.-1",
    ":payload.a.1",
  ])("FW-MAP-02 %s leads nowhere", (reference) => {
    const envelope = sampleEnvelope({ data: '{"a":[1],"s":"xy","big":0.1000000000000000055511151231257827}' });
    expect(code(() => valueAt(reference, envelope))).toBe("reference_missing");
  });

  test("WO-GEN-08 members with the names of a prototype are plain names in paths and in data", () => {
    const envelope = sampleEnvelope({ data: '{"__proto__":{"a":1},"constructor":{"b":2}}' });
    expect(valueAt(":payload.__proto__.a", envelope)).toBe(1);
    expect(valueAt(":payload.constructor.b", envelope)).toBe(2);
    const rule = JSON.parse(
      '{"place":"p","data":{"__proto__":":payload.constructor.b","constructor":3,"n":{"__proto__":":payload.__proto__.a"}}}',
    ) as Record<string, unknown>;
    const [payload] = payloadsOf(mapOf([rule]).plan(envelope)) as [{ data: Record<string, unknown> }];
    expect(Object.getOwnPropertyNames(payload.data)).toEqual(["__proto__", "constructor", "n"]);
    expect(Object.getPrototypeOf(payload.data)).toBe(Object.prototype);
    expect(encodeJson(payload.data)).toBe('{"__proto__":2,"constructor":3,"n":{"__proto__":1}}');
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });

  test("FW-MAP-02 escaped characters are themselves; a question mark in the middle is plain", () => {
    const envelope = sampleEnvelope({ data: String.raw`{"a.b":1,"c?":2,"d\\e":3,"f?g":4,"h\\":5}` });
    expect(
      [String.raw`:payload.a\.b`, String.raw`:payload.c\?`, String.raw`:payload.d\\e`, ":payload.f?g", String.raw`:payload.h\\?`].map(
        (reference) => valueAt(reference, envelope),
      ),
    ).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("FW-MAP-05 digits", () => {
  test.each([
    ["9007199254740993", 9_007_199_254_740_993n],
    ["-9007199254740993", -9_007_199_254_740_993n],
    ["1234567890123456789012345678901234567890", 1_234_567_890_123_456_789_012_345_678_901_234_567_890n],
    ["9007199254740991", 9_007_199_254_740_991],
    ["1e300", 1e300],
    ["0.1", 0.1],
    ["1.10", 1.1],
    ["0.1000000000000000055511151231257827", new NumberToken("0.1000000000000000055511151231257827")],
    ["1e400", new NumberToken("1e400")],
    ["9007199254740993.0", new NumberToken("9007199254740993.0")],
  ])("FW-MAP-05 %s", (digits, value) => {
    expect(valueAt(":payload.n", sampleEnvelope({ data: `{"n":${digits}}` }))).toEqual(value);
    expect(encodeJson(valueAt(":payload", sampleEnvelope({ data: `{"n":[${digits}]}` })))).toBe(encodeJson({ n: [value] }));
  });

  test("FW-MAP-05 every integer of any length keeps its digits", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), (integer) => {
        expect(String(valueAt(":payload.n", sampleEnvelope({ data: `{"n":${integer}}` })))).toBe(String(integer));
      }),
    );
  });
});

test("FW-MAP-07 FW-ENV-11 a body is parsed at most once, and not at all when no rule asks", () => {
  let reads = 0;
  class Watched extends Uint8Array {
    override get length(): number {
      reads += 1;
      return super.length;
    }
  }
  const data = new Watched(Buffer.from('{"a":{"b":1},"c":[1]}'));
  mapOf([{ op: "push", key: ":subject", entry: ":stream_sequence" }]).plan(sampleEnvelope({ data, position: samplePosition }));
  expect(reads).toBe(0);
  const envelope = sampleEnvelope({ data: '{"a":{"b":1},"c":[1]}' });
  const [first, second] = payloadsOf(mapOf([{ op: "push", key: ":payload.c", entry: ":payload.a" }]).plan(envelope)).concat(
    payloadsOf(mapOf([{ op: "push", key: ":payload.c", entry: ":payload.a" }]).plan(envelope)),
  ) as [{ entry: object }, { entry: object }];
  expect(second.entry).toBe(first.entry);
});

test("FW-ENV-01 what a rule hands on of a body is frozen to its depth", () => {
  const envelope = sampleEnvelope({ data: '{"a":{"b":[1]},"c":2}' });
  const value = valueAt(":payload.a", envelope) as { b: number[] };
  expect([Object.isFrozen(value), Object.isFrozen(value.b)]).toEqual([true, true]);
  expect(Object.isFrozen(envelope.json())).toBe(true);
  expect(envelope.json()).toEqual({ a: { b: [1] }, c: 2 });
});

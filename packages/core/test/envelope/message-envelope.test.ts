import { describe, expect, test, vi } from "vitest";
import { normaliseHeaders } from "../../src/envelope/headers.js";
import { inspectEnvelope } from "../../src/envelope/message-envelope.js";
import { fieldNames, sampleEnvelope, samplePosition, thrownBy } from "./sample-envelope.js";

/** Everything that can be reached from a value by properties and prototype getters. */
function reachable(root: unknown): Set<unknown> {
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null || value === Object.prototype || value instanceof Uint8Array || seen.has(value)) return;
    seen.add(value);
    for (
      let holder: object | null = value;
      holder !== null && holder !== Object.prototype && holder !== Array.prototype;
      holder = Object.getPrototypeOf(holder) as object | null
    ) {
      for (const name of Reflect.ownKeys(holder)) {
        if (name === "constructor") continue;
        const descriptor = Object.getOwnPropertyDescriptor(holder, name);
        walk(descriptor?.get === undefined ? descriptor?.value : (value as Record<PropertyKey, unknown>)[name]);
      }
    }
  };
  walk(root);
  return seen;
}

describe("FW-ENV-01 a frozen envelope", () => {
  test("FW-ENV-01 nothing can be added, changed or removed", () => {
    const envelope = sampleEnvelope({ headers: [["Nats-Sinks-Labels", "a;b"]] });
    expect(Object.isFrozen(envelope)).toBe(true);
    expect(Object.isFrozen(Object.getPrototypeOf(envelope))).toBe(true);
    expect(() => Object.assign(envelope, { subject: "other" })).toThrow(TypeError);
    expect(() => Object.assign(envelope, { extra: 1 })).toThrow(TypeError);
    expect(() => (envelope.labels as string[]).push("c")).toThrow(TypeError);
    expect(envelope.subject).toBe("events.a");
    const { value } = envelope.payloadForJsonStorage();
    const snapshot = envelope.metadataForJsonStorage(5n);
    for (const part of [
      envelope.headers,
      envelope.labels,
      value,
      snapshot,
      snapshot.headers,
      snapshot.jetstream,
      snapshot.timestamps,
      snapshot.freshness,
      snapshot.nats.reserved_headers_present,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("FW-ENV-01 no acknowledgement verb and no client object can be reached", () => {
    const client = {
      ack: () => true,
      nak: () => true,
      term: () => true,
      working: () => true,
      ackAck: () => true,
      headers: [["A", "b"]] as [string, string][],
    };
    const envelope = sampleEnvelope({ readHeaders: () => normaliseHeaders(client.headers) });
    for (const object of reachable(envelope)) {
      expect(object).not.toBe(client);
      for (const verb of ["ack", "nak", "term", "working", "ackAck", "respond", "next"]) {
        expect([verb, verb in (object as object)]).toEqual([verb, false]);
      }
    }
    expect(typeof envelope.reply).toBe("string");
    expect(JSON.stringify(envelope)).toBe("{}");
  });
});

describe("FW-ENV-02 fields", () => {
  test("FW-ENV-02 every field of the table is there", () => {
    const envelope = sampleEnvelope({
      headers: [
        ["Nats-Msg-Id", "id-1"],
        ["Nats-Sinks-Priority", " high "],
        ["Nats-Sinks-Classification", "internal"],
        ["Nats-Sinks-Labels", "a; b;;a;c "],
      ],
      origin: { domain: "hub", account: "A" },
    });
    const { data, headers, ...rest } = Object.fromEntries(
      ["data", "headers", ...fieldNames].map((name) => [name, envelope[name as keyof typeof envelope]]),
    );
    expect(Buffer.from(data as Uint8Array).toString()).toBe('{"n":1}');
    expect([...(headers as typeof envelope.headers).keys()]).toHaveLength(4);
    expect(rest).toEqual({
      subject: "events.a",
      stream: "EVENTS",
      consumer: "sink",
      domain: "hub",
      account: "A",
      streamCreatedAt: "2026-01-02T03:04:05.123456789Z",
      streamSequence: 42n,
      consumerSequence: 7n,
      timestampNs: 1_767_225_600_123_456_789n,
      receivedAtNs: 1_767_225_600_223_456_789n,
      messageId: "id-1",
      deliveryCount: 1,
      redelivered: false,
      pending: 3,
      priority: "high",
      classification: "internal",
      labels: ["a", "b", "c"],
      missionMetadata: null,
      securityLabels: null,
      custody: null,
      reply: "$JS.ACK.EVENTS.sink.1.42.7.1767225600123456789.3",
      payloadPresent: true,
      payloadOmitted: false,
      payloadOmittedReason: null,
      originalPayloadSizeBytes: 7,
      payloadSizeHeaderMalformed: false,
    });
  });

  test("FW-ENV-02 outside JetStream everything of the position is null", () => {
    const envelope = sampleEnvelope({ position: null });
    expect([
      envelope.streamSequence,
      envelope.consumerSequence,
      envelope.timestampNs,
      envelope.deliveryCount,
      envelope.redelivered,
      envelope.pending,
    ]).toEqual([null, null, null, null, null, null]);
  });

  test.each([
    [null, null],
    [0, null],
    [1, false],
    [2, true],
    [900, true],
  ])("FW-ENV-02 delivery count %s means redelivered %s", (deliveryCount, redelivered) => {
    expect(sampleEnvelope({ position: { ...samplePosition, deliveryCount } }).redelivered).toBe(redelivered);
  });

  test("FW-ENV-02 the message id is an explicit value, else one of three headers in any case", () => {
    const id = (...headers: [string, string][]) => sampleEnvelope({ headers }).messageId;
    expect(id(["message-id", "c"], ["nats-message-id", "b"], ["NATS-MSG-ID", "a"])).toBe("a");
    expect(id(["Message-Id", "c"], ["Nats-Message-Id", "b"])).toBe("b");
    expect(id(["MESSAGE-ID", "c"])).toBe("c");
    expect(id(["Nats-Msg-Id", ""], ["message-id", "c"])).toBe("c");
    expect(id(["Other", "x"])).toBeNull();
    expect(sampleEnvelope().messageId).toBeNull();
    expect(sampleEnvelope({ known: { messageId: "given" }, headers: [["Nats-Msg-Id", "a"]] }).messageId).toBe("given");
  });

  test("FW-ENV-05 times and sequences beyond 2^53 keep every digit", () => {
    const position = {
      ...samplePosition,
      streamSequence: 9_007_199_254_740_993n,
      consumerSequence: 18_446_744_073_709_551_615n,
      timestampNs: 1_767_225_600_123_456_789n,
    };
    const envelope = sampleEnvelope({ position });
    expect([envelope.streamSequence, envelope.consumerSequence, envelope.timestampNs]).toEqual([
      9_007_199_254_740_993n,
      18_446_744_073_709_551_615n,
      1_767_225_600_123_456_789n,
    ]);
    expect(envelope.metadataJsonText()).toContain('"stream_sequence":9007199254740993,"consumer_sequence":18446744073709551615');
  });
});

describe("FW-ENV-04 withheld bodies", () => {
  test.each([
    // size header, body, omitted, original size, malformed
    [null, "", false, 0, false],
    [null, "abc", false, 3, false],
    ["0", "", false, 0, false],
    ["12", "", true, 12, false],
    ["12", "abc", false, 12, false],
    ["-1", "", false, 0, true],
    ["1.5", "", false, 0, true],
    ["", "", false, 0, true],
    ["twelve", "", false, 0, true],
    ["0x10", "", false, 0, true],
    ["12,12", "", false, 0, true],
    ["99999999999999999999", "", false, 0, true],
    ["twelve", "abc", false, 3, true],
  ])("FW-ENV-04 Nats-Msg-Size %j with body %j", (size, data, omitted, original, malformed) => {
    const envelope = sampleEnvelope({ data, headers: size === null ? [["A", "b"]] : [["nats-msg-size", size]] });
    expect([
      envelope.payloadOmitted,
      envelope.payloadPresent,
      envelope.payloadOmittedReason,
      envelope.originalPayloadSizeBytes,
      envelope.payloadSizeHeaderMalformed,
    ]).toEqual([omitted, !omitted, omitted ? "headers_only" : null, original, malformed]);
  });
});

describe("FW-ENV-11 lazy and at most once", () => {
  test("FW-ENV-11 headers are read by nobody until somebody asks, and once", () => {
    let reads = 0;
    const envelope = sampleEnvelope({
      readHeaders: () => {
        reads += 1;
        return normaliseHeaders([["Nats-Msg-Id", "a"]]);
      },
    });
    void [
      envelope.subject,
      envelope.data,
      envelope.streamSequence,
      envelope.idempotencyKey(),
      envelope.text(),
      envelope.payloadForJsonStorage().text,
    ];
    expect(reads).toBe(0);
    void [
      envelope.headers,
      envelope.messageId,
      envelope.priority,
      envelope.labels,
      envelope.payloadSizeHeaderMalformed,
      envelope.metadataJsonText(1n),
      envelope.metadataForJsonStorage(),
    ];
    expect(inspectEnvelope(envelope)).toBeNull();
    expect(reads).toBe(1);
  });

  test("FW-ENV-11 the body is read once for all modes, digests and texts", () => {
    const decode = vi.spyOn(TextDecoder.prototype, "decode");
    let resolved = 0;
    const envelope = sampleEnvelope({
      data: '{"n":9007199254740993}',
      origin: {
        messageMetadata: {
          resolve: () => {
            resolved += 1;
            return { priority: "p", classification: null, labels: [], refused: null };
          },
        },
      },
    });
    for (const mode of ["json_or_envelope", "text_envelope", "bytes_envelope"] as const) {
      const payload = envelope.payloadForJsonStorage(mode);
      expect(envelope.payloadForJsonStorage(mode)).toBe(payload);
      expect(payload.value).toBe(payload.value);
    }
    void [
      envelope.text(),
      envelope.priority,
      envelope.classification,
      envelope.labels,
      envelope.metadataForJsonStorage(),
      envelope.metadataJsonText(),
    ];
    expect(resolved).toBe(1);
    expect(decode).toHaveBeenCalledTimes(1);
    decode.mockRestore();
  });

  test("FW-ENV-11 the position is asked for only by those who need it", () => {
    const asked: string[] = [];
    const position = new Proxy(samplePosition, {
      get: (target, name) => {
        asked.push(String(name));
        return Reflect.get(target, name) as unknown;
      },
    });
    const envelope = sampleEnvelope({ position });
    void [envelope.subject, envelope.text(), envelope.messageId, envelope.payloadForJsonStorage().text];
    expect(asked).toEqual([]);
    void [envelope.idempotencyKey(), envelope.idempotencyKey()];
    expect(asked).toEqual(["streamSequence"]);
  });

  test("FW-ENV-11 snapshot and key are kept", () => {
    const envelope = sampleEnvelope();
    expect(envelope.metadataForJsonStorage()).toBe(envelope.metadataForJsonStorage());
    expect(envelope.metadataForJsonStorage(5n).headers).toBe(envelope.metadataForJsonStorage(6n).headers);
  });
});

describe("the gate of ingestion", () => {
  test("FW-ENV-03 a block that cannot be parsed rejects the message, and its other facts still stand", () => {
    const cause = new Error("client says: 'secret' is not a valid character in a header name");
    const envelope = sampleEnvelope({
      readHeaders: () => {
        throw cause;
      },
    });
    const error = inspectEnvelope(envelope);
    expect([error?.name, error?.code, error?.cause]).toEqual(["SerializationError", "headers_malformed", cause]);
    expect(inspectEnvelope(envelope)).toBe(error);
    expect(error?.message).not.toContain("secret");
    expect(error?.message).toMatch(/"events\.a".*EVENTS.*42/);
    expect([envelope.headers.size, envelope.messageId, envelope.priority, envelope.labels.length, envelope.payloadPresent]).toEqual([
      0,
      null,
      null,
      0,
      true,
    ]);
    expect(envelope.metadataForJsonStorage().headers).toEqual({});
    expect(envelope.idempotencyKey()).toMatch(/^js:1:/);
  });

  test.each(["Nats-Sinks-Priority", "Nats-Sinks-Classification", "Nats-Sinks-Labels"])(
    "FW-META-06 a control in %s rejects that message, without its value",
    (header) => {
      for (const value of ["secret\u0001", "sec\u007fret", "a;b\u0009secret;c"]) {
        const envelope = sampleEnvelope({
          headers: [
            [header, value],
            ["Nats-Msg-Id", "id-1"],
          ],
        });
        const error = inspectEnvelope(envelope);
        expect([error?.name, error?.code]).toEqual(["ValidationError", "validation_failed"]);
        expect(error?.message).toMatch(/"events\.a".*EVENTS.*42/);
        expect(error?.message).not.toContain("sec");
        expect([envelope.priority, envelope.classification, envelope.labels, envelope.messageId]).toEqual([null, null, [], "id-1"]);
        expect(envelope.headers.get(header)).toBe(value);
      }
    },
  );

  test("FW-META-06 controls in other headers and messages without headers pass", () => {
    expect(inspectEnvelope(sampleEnvelope({ headers: [["X-Other", "a\u0001b"]] }))).toBeNull();
    expect(inspectEnvelope(sampleEnvelope())).toBeNull();
  });

  test("FW-ENV-12 a long subject is cut in error texts", () => {
    const envelope = sampleEnvelope({ subject: "x".repeat(5000), data: "not json" });
    expect(thrownBy(() => envelope.payloadForJsonStorage("json_only")).message.length).toBeLessThan(500);
  });
});

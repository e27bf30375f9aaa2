import { describe, expect, test } from "vitest";
import { createEnvelope, type EnvelopeFields } from "../../src/envelope/create-envelope.js";
import { compileMessageMetadata, defaultMessageMetadataSection } from "../../src/envelope/message-metadata.js";
import { sampleEnvelope, thrownBy } from "./sample-envelope.js";

const base: EnvelopeFields = { subject: "events.a", receivedAtNs: 1n };

describe("FW-ENV-13 envelopes made by code", () => {
  test("FW-ENV-13 the same facts give the same envelope as ingestion", () => {
    const headers: [string, string][] = [
      ["Nats-Msg-Id", "id-1"],
      ["X-A", "1"],
      ["x-a", "2"],
      ["Nats-Sinks-Labels", "a;b"],
    ];
    const ingested = sampleEnvelope({ headers });
    const made = createEnvelope({
      subject: "events.a",
      data: Buffer.from('{"n":1}'),
      headers,
      receivedAtNs: ingested.receivedAtNs,
      reply: ingested.reply,
      stream: "EVENTS",
      consumer: "sink",
      streamCreatedAt: ingested.streamCreatedAt,
      streamSequence: 42n,
      consumerSequence: 7n,
      timestampNs: ingested.timestampNs,
      deliveryCount: 1,
      pending: 3,
    });
    expect(made.metadataJsonText(9n)).toBe(ingested.metadataJsonText(9n));
    expect(made.idempotencyKey()).toBe(ingested.idempotencyKey());
    expect(made.payloadForJsonStorage().text).toBe(ingested.payloadForJsonStorage().text);
    expect(Object.isFrozen(made)).toBe(true);
  });

  test("FW-ENV-13 headers come as pairs, as an object or with several values", () => {
    expect([...createEnvelope({ ...base, headers: { A: ["1", "2"], a: "3", B: "" } }).headers]).toEqual([
      ["A", "1,2,3"],
      ["B", ""],
    ]);
    const { headers } = createEnvelope({ ...base, headers: new Map([["A", "1"]]) });
    expect([...createEnvelope({ ...base, headers }).headers]).toEqual([["A", "1"]]);
  });

  test("FW-ENV-02 negative sequences and counts are null, given labels and texts are trimmed", () => {
    const envelope = createEnvelope({
      ...base,
      streamSequence: -1n,
      consumerSequence: -5n,
      deliveryCount: -1,
      pending: -3,
      priority: " high ",
      classification: "  ",
      labels: [" a", "b", "a", ""],
      messageId: "",
    });
    expect([envelope.streamSequence, envelope.consumerSequence, envelope.deliveryCount, envelope.pending]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect([envelope.priority, envelope.classification, envelope.labels, envelope.messageId]).toEqual(["high", null, ["a", "b"], null]);
    expect(createEnvelope({ ...base, labels: "x; y;x" }).labels).toEqual(["x", "y"]);
  });

  test("FW-META-05 given values come before headers, rules follow the compiled section", () => {
    const messageMetadata = compileMessageMetadata({
      ...defaultMessageMetadataSection,
      rules: [{ subject: "events.>", priority: "ruled", classification: "ruled" }],
    });
    const envelope = createEnvelope({ ...base, messageMetadata, priority: "given", headers: { "Nats-Sinks-Priority": "sent" } });
    expect([envelope.priority, envelope.classification]).toEqual(["given", "ruled"]);
  });

  test.each([
    ["no subject", { subject: "" }],
    ["white space in the subject", { subject: "a b" }],
    ["a lone surrogate in the subject", { subject: "a\ud800" }],
    ["a subject of another kind", { subject: 5 }],
    ["data that are no bytes", { data: "text" }],
    ["a receipt time that went through a number (FW-ENV-05)", { receivedAtNs: 5 }],
    ["a server time that went through a Date (FW-ENV-05)", { timestampNs: new Date(0) }],
    ["a sequence that went through a number (FW-ENV-05)", { streamSequence: 42 }],
    ["a fractional count", { deliveryCount: 1.5 }],
    ["a creation time that is none", { stream: "S", streamCreatedAt: "yesterday" }],
    ["a number as priority (FW-META-06)", { priority: 5 }],
    ["a boolean as classification (FW-META-06)", { classification: true }],
    ["a control in the priority (FW-META-06)", { priority: "secret\u0001" }],
    ["a semicolon in a label of a list (FW-META-06)", { labels: ["secret;b"] }],
    ["a number as label (FW-META-06)", { labels: ["a", 5] }],
    ["a number as labels (FW-META-06)", { labels: 5 }],
    ["a control in a label (FW-META-06)", { labels: ["secret\u0007"] }],
    ["a control in a publisher's priority (FW-META-06)", { headers: { "Nats-Sinks-Priority": "secret\u0001" } }],
    ["a header value of another kind", { headers: { A: 5 } }],
    ["a lone surrogate in a header", { headers: { A: "secret\udc00" } }],
    ["a reply of another kind", { reply: 5 }],
  ])("FW-ENV-13 refuses %s", (_, fields) => {
    const error = thrownBy(() => createEnvelope({ ...base, ...(fields as object) }));
    expect(error.name).toBe("ValidationError");
    expect(error.message).not.toContain("secret");
  });

  test("FW-ENV-13 refuses headers that no block can hold as ingestion does", () => {
    for (const headers of [{ "bad name": "secret" }, { A: "secret\nline" }]) {
      const error = thrownBy(() => createEnvelope({ ...base, headers }));
      expect([error.name, error.code]).toEqual(["SerializationError", "headers_malformed"]);
      expect(error.message).toContain("events.a");
      expect(error.message).not.toContain("secret");
    }
  });
});

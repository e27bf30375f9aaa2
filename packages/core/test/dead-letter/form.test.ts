import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeDeadLetter } from "../../src/dead-letter/entry.js";
import { buildDeadLetter, type DeadLetterContent } from "../../src/dead-letter/form.js";
import { joinChunks } from "../../src/dead-letter/join.js";
import { type DeadLetterLimits, type DeadLetterMessage, deadLetterLimits, messageBytes } from "../../src/dead-letter/size.js";
import { createEnvelope } from "../../src/envelope/create-envelope.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import { PermanentSinkError } from "../../src/error/errors.js";
import { storedAs, walkable } from "../fakes/stored-dead-letters.js";

const error = new PermanentSinkError("value\ttoo long: 100 %", { code: "permanent", destinationCode: "22001" });
const base: DeadLetterContent = { includePayload: true, includeHeaders: true, includeError: true, format: "json", oversize: "chunk" };
const raw: DeadLetterContent = { ...base, format: "raw" };

function limitsOf(bytes: number, more: Partial<DeadLetterLimits> = {}): DeadLetterLimits {
  return { messageBytes: bytes, totalBytes: Number.POSITIVE_INFINITY, messages: Number.POSITIVE_INFINITY, ...more };
}

function original(data: Uint8Array, headers: Readonly<Record<string, string>> = {}): Envelope {
  return createEnvelope({
    subject: "orders.ünïcode",
    data,
    headers,
    receivedAtNs: 1n,
    stream: "EVENTS",
    consumer: "sink",
    streamCreatedAt: "2026-01-01T00:00:00Z",
    streamSequence: 42n,
    consumerSequence: 40n,
    timestampNs: 1_700_000_000_123_456_789n,
    deliveryCount: 3,
    pending: 7,
  });
}

const body = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251);

function messagesOf(envelope: Envelope, content: DeadLetterContent, limits: DeadLetterLimits): readonly DeadLetterMessage[] | null {
  return buildDeadLetter(envelope, error, "orders", content).messages(limits);
}

function single(envelope: Envelope, content: DeadLetterContent, limits = limitsOf(1_048_576)): DeadLetterMessage {
  const [message, ...more] = messagesOf(envelope, content, limits) ?? [];
  if (message === undefined || more.length > 0) throw new Error("not one message");
  return message;
}

describe("raw", () => {
  test("FW-DLQ-04 the body is the original's, its headers are kept, and those the server acts on are moved", () => {
    const data = new Uint8Array([0, 255, 10, 13]);
    const message = single(original(data, { "Nats-Msg-Id": "m-1", "nats-ttl": "5s", Team: "x", "Nats-Sinks-Labels": "one;two" }), raw);
    expect(message.body).toEqual(data);
    expect(Object.fromEntries(message.headers)).toMatchObject({
      Team: "x",
      "Nats-Sinks-Original-Nats-Msg-Id": "m-1",
      "Nats-Sinks-Original-nats-ttl": "5s",
      "Nats-Sinks-Original-Nats-Sinks-Labels": "one;two",
      "Nats-Sinks-Original-Subject": "orders.%C3%BCn%C3%AFcode",
      "Nats-Sinks-Error-Type": "PermanentSinkError",
      "Nats-Sinks-Error": "value%09too long: 100 %25",
      "Nats-Sinks-Error-Code": "permanent",
      "Nats-Sinks-Destination-Code": "22001",
      "Nats-Sinks-Dlq-Version": "1",
      "Nats-Sinks-Stream": "EVENTS",
      "Nats-Sinks-Stream-Sequence": "42",
      "Nats-Sinks-Labels": '["one","two"]',
      "Nats-Sinks-Message-Id": "m-1",
      "Nats-Sinks-Payload-Sha256": createHash("sha256").update(data).digest("hex"),
    });
    const acted = [...message.headers.keys()].filter((name) => /^nats-/i.test(name) && !name.startsWith("Nats-Sinks-"));
    expect(acted).toEqual([]);
  });

  test("FW-DLQ-04 FW-DLQ-02 says the same as the record in JSON, field for field", () => {
    const envelope = original(body(10), { "Nats-Msg-Id": "m-1", Team: "x", Empty: "" });
    const inJson = decodeDeadLetter(storedAs(single(envelope, base), 1));
    const inHeaders = decodeDeadLetter(storedAs(single(envelope, raw), 1));
    const { record: jsonRecord, ...json } = inJson;
    const { record: rawRecord, ...headers } = inHeaders;
    expect(headers).toEqual(json);
    // A null field has no header.
    const known = Object.entries(jsonRecord ?? {}).filter(([, value]) => value !== null);
    expect(rawRecord).toEqual(Object.fromEntries(known));
  });

  test("FW-DLQ-04 FW-ENV-05 sequences beyond 2^53 keep their digits", () => {
    const envelope = createEnvelope({ subject: "a", receivedAtNs: 1n, stream: "S", streamSequence: 18_446_744_073_709_551_615n });
    expect(decodeDeadLetter(storedAs(single(envelope, raw), 1)).streamSequence).toBe(18_446_744_073_709_551_615n);
  });

  test.each([
    [{ includePayload: false }, { payload_unavailable_reason: "not_included" }],
    [{ includeHeaders: false }, { headers_unavailable_reason: "not_included" }],
  ])("FW-DLQ-04 with %j the message says what it lacks", (less, expected) => {
    const entry = decodeDeadLetter(storedAs(single(original(body(10), { Team: "x" }), { ...raw, ...less }), 1));
    expect(entry.record).toMatchObject(expected);
    expect([entry.payload === null, entry.record?.["headers"] === undefined]).toEqual(["includePayload" in less, "includeHeaders" in less]);
  });

  test("FW-DLQ-04 without include_error neither text nor type leaves", () => {
    const { headers } = single(original(body(1)), { ...raw, includeError: false });
    expect([headers.has("Nats-Sinks-Error"), headers.has("Nats-Sinks-Error-Type")]).toEqual([false, false]);
  });

  test("FW-DLQ-04 a withheld body is not an empty one", () => {
    const withheld = createEnvelope({ subject: "a", receivedAtNs: 1n, stream: "S", streamSequence: 1n, headers: { "Nats-Msg-Size": "9" } });
    const entry = decodeDeadLetter(storedAs(single(withheld, raw), 1));
    expect([entry.payload, entry.payloadUnavailableReason]).toEqual([null, "headers_only"]);
    expect(decodeDeadLetter(storedAs(single(original(new Uint8Array()), raw), 1)).payload).toEqual(new Uint8Array());
  });
});

describe("what does not fit", () => {
  test("FW-DLQ-05 the limit is the least of the server's, the stream's and the configured one", () => {
    expect(deadLetterLimits(1000, null, null).messageBytes).toBe(1000);
    expect(deadLetterLimits(1000, { messageBytes: 900, totalBytes: null, messages: null }, null).messageBytes).toBe(900);
    expect(deadLetterLimits(1000, { messageBytes: 900, totalBytes: 5, messages: 6 }, 800)).toEqual(
      limitsOf(800, { totalBytes: 5, messages: 6 }),
    );
  });

  test("FW-DLQ-05 JSON that is too big is sent raw; too big for that, in ordered chunks with ids of their own", () => {
    const envelope = original(body(30_000), { Team: "x" });
    const json = single(envelope, base);
    expect(JSON.parse(new TextDecoder().decode(json.body))).toMatchObject({ dlq_version: 1 });
    const asRaw = single(envelope, base, limitsOf(messageBytes(json) - 1));
    expect([asRaw.body.length, asRaw.id]).toEqual([30_000, json.id]);
    const chunks = messagesOf(envelope, base, limitsOf(messageBytes(asRaw) - 1)) ?? [];
    expect(chunks.map(({ headers }) => headers.get("Nats-Sinks-Chunk"))).toEqual(["1/2", "2/2"]);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(2);
    expect(Buffer.concat(chunks.map((chunk) => chunk.body))).toEqual(Buffer.from(body(30_000)));
  });

  test("FW-DLQ-05 FW-DLQ-03 an id names the same bytes whatever the limit was", () => {
    const letter = buildDeadLetter(original(body(30_000)), error, "orders", base);
    const seen = new Map<string, string>();
    for (let limit = 2500; limit < 28_000; limit += 97) {
      for (const { id, body: part } of letter.messages(limitsOf(limit)) ?? []) {
        const digest = createHash("sha256").update(part).digest("hex");
        expect(seen.get(id) ?? digest).toBe(digest);
        seen.set(id, digest);
      }
    }
    expect(seen.size).toBeGreaterThan(50);
  });

  test("FW-DLQ-05 oversize metadata_only leaves the body out and says so, then the headers", () => {
    const envelope = original(body(30_000), { Team: "x".repeat(3000) });
    const content = { ...base, oversize: "metadata_only" } as const;
    const without = decodeDeadLetter(storedAs(single(envelope, content, limitsOf(8000)), 1));
    expect([without.payload, without.payloadUnavailableReason, without.streamSequence]).toEqual([null, "too_large", 42]);
    expect(without.record).toHaveProperty("headers");
    const bare = decodeDeadLetter(storedAs(single(envelope, content, limitsOf(3000)), 1));
    expect(bare.record).toMatchObject({ payload_unavailable_reason: "too_large", headers_unavailable_reason: "too_large" });
    expect(bare.record).not.toHaveProperty("headers");
    const inHeaders = decodeDeadLetter(storedAs(single(envelope, { ...content, format: "raw" }, limitsOf(8000)), 1));
    expect([inHeaders.payload, inHeaders.payloadUnavailableReason]).toEqual([null, "too_large"]);
  });

  test("FW-DLQ-05 oversize hold, and what cannot be carried at all, is said to be so", () => {
    const envelope = original(body(30_000));
    expect(messagesOf(envelope, { ...base, oversize: "hold" }, limitsOf(10_000))).toBeNull();
    expect(messagesOf(envelope, base, limitsOf(500))).toBeNull();
    expect(messagesOf(envelope, { ...base, oversize: "metadata_only" }, limitsOf(500))).toBeNull();
    expect(messagesOf(envelope, base, limitsOf(10_000, { totalBytes: 30_000 }))).toBeNull();
    expect(messagesOf(envelope, base, limitsOf(10_000, { messages: 1 }))).toBeNull();
  });

  test("FW-DLQ-05 a payload that is not included is not sent raw either", () => {
    const envelope = original(body(30_000), { Team: "x".repeat(3000) });
    const messages = messagesOf(envelope, { ...base, includePayload: false }, limitsOf(6000)) ?? [];
    expect(messages).toHaveLength(1);
    expect(messagesOf(envelope, { ...base, includePayload: false }, limitsOf(3000))).toBeNull();
  });

  test("FW-DLQ-04 FW-DLQ-05 headers that no header block can hold stand in JSON; with a body that is too large for it, nothing is dropped", () => {
    const many = { Team: "x".repeat(65_000) };
    const [message] = messagesOf(original(body(10), many), raw, limitsOf(1_000_000)) ?? [];
    expect(JSON.parse(new TextDecoder().decode(message?.body))).toMatchObject({ headers: many, payload_base64: expect.any(String) });
    expect(messagesOf(original(body(900_000), many), raw, limitsOf(1_000_000))).toBeNull();
    const bare = single(original(body(900_000), many), { ...raw, oversize: "metadata_only" }, limitsOf(1_000_000));
    const { record } = decodeDeadLetter(storedAs(bare, 1));
    expect(record).toMatchObject({ headers: many, payload_unavailable_reason: "too_large" });
  });

  test("FW-DLQ-05 whatever the body and the limits, no message is above them, and a reader gets every byte back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 6000, size: "max" }),
        fc.integer({ min: 1500, max: 12_000 }),
        fc.constantFrom("json", "raw"),
        fc.infiniteStream(fc.nat()),
        async (data, limit, format, order) => {
          const messages = messagesOf(original(data, { Team: "x" }), { ...base, format }, limitsOf(limit));
          if (messages === null) return;
          for (const message of messages) expect(messageBytes(message)).toBeLessThanOrEqual(limit);
          // Repeats, and chunks in another order, are what faults leave behind.
          const drawn = messages.map((message) => [order.next().value as number, message] as const);
          const shuffled = [...drawn, ...drawn.slice(0, 2)].sort(([one], [other]) => one - other).map(([, message]) => message);
          const all = shuffled.map((message, index) => storedAs(message, index + 1));
          for (const stored of [all[0], all.at(-1)] as const) {
            if (stored === undefined) throw new Error("no message");
            const entry = decodeDeadLetter(stored);
            const whole = entry.chunk === null ? entry : await joinChunks(walkable(all), entry);
            expect(Buffer.from(whole.payload ?? [])).toEqual(Buffer.from(data));
            expect(whole.streamSequence).toBe(42);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("joining chunks", () => {
  const chunks = messagesOf(original(body(30_000)), raw, limitsOf(8000)) ?? [];
  const stored = chunks.map((message, index) => storedAs(message, index + 1));

  test("FW-DLQ-05 a missing part is named, and no part is passed for the whole", async () => {
    const [first, , ...rest] = stored;
    const entry = decodeDeadLetter(first as (typeof stored)[number]);
    const joined = await joinChunks(walkable([first as (typeof stored)[number], ...rest]), entry);
    expect([joined.payload, joined.payloadUnavailableReason]).toEqual([null, "chunks_missing"]);
  });

  test("FW-DLQ-05 parts that do not give the original are not joined silently", async () => {
    const broken = stored.map((each, index) => (index === 1 ? { ...each, data: new Uint8Array(each.data.length) } : each));
    const entry = decodeDeadLetter(broken[0] as (typeof stored)[number]);
    const joined = await joinChunks(walkable(broken), entry);
    expect([joined.payload, joined.payloadUnavailableReason]).toEqual([null, "chunks_differ"]);
  });

  test("FW-DLQ-05 parts of another letter, and of another cut of this one, are kept apart", async () => {
    const other =
      messagesOf(
        createEnvelope({ subject: "b", data: body(30_000), receivedAtNs: 1n, stream: "EVENTS", streamSequence: 43n }),
        raw,
        limitsOf(8000),
      ) ?? [];
    const coarser = messagesOf(original(body(30_000)), raw, limitsOf(12_000)) ?? [];
    const mixed = [other[0], coarser[0], chunks[0], other[1], coarser[1], ...chunks.slice(1)] as DeadLetterMessage[];
    const all = mixed.map((message, index) => storedAs(message, index + 1));
    const joined = await joinChunks(walkable(all), decodeDeadLetter(all[1] as (typeof all)[number]));
    expect(Buffer.from(joined.payload ?? [])).toEqual(Buffer.from(body(30_000)));
  });

  test("FW-DLQ-05 FW-DLQ-03 a repeat that carries the letter whole completes it", async () => {
    const whole = single(original(body(30_000)), base);
    const all = [...chunks.slice(0, 2), whole].map((message, index) => storedAs(message, index + 1));
    const joined = await joinChunks(walkable(all), decodeDeadLetter(all[0] as (typeof all)[number]));
    expect(joined.payload).toEqual(body(30_000));
  });
});

import { describe, expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { buildDeadLetter, type DeadLetterContent } from "../../src/dead-letter/form.js";
import { createEnvelope } from "../../src/envelope/create-envelope.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import { ConfigurationError, DeadLetterError, DestinationUnavailableError, PermanentSinkError } from "../../src/error/errors.js";
import { republishedHeaders } from "../../src/replay/publish.js";
import { type ReplayReport, type ReplayRequest, replayFrom } from "../../src/replay/replay.js";
import { replayEnvelope } from "../../src/replay/source.js";
import { type PutResult, publishTarget, type ReplayTarget } from "../../src/replay/target.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { FakeReplayStore } from "../fakes/fake-replay-store.js";
import { storedAs } from "../fakes/stored-dead-letters.js";

const content: DeadLetterContent = { includePayload: true, includeHeaders: true, includeError: true, format: "json", oversize: "chunk" };
const wide = { messageBytes: 1_000_000, totalBytes: Number.POSITIVE_INFINITY, messages: 1000 };
const configuration = validateConfiguration({
  nats: { stream: "EVENTS", consumer: "sink", subject: "events.>" },
  sink: { type: "file", directory: "out" },
  dead_letter: { enabled: true, subject: "dlq.a" },
});

function original(sequence: number, more: Partial<Parameters<typeof createEnvelope>[0]> = {}): Envelope {
  return createEnvelope({
    subject: "events.a",
    data: new TextEncoder().encode(`{"n":${sequence}}`),
    headers: { "Nats-Msg-Id": `m-${sequence}`, Team: "x", "Nats-Sinks-Priority": "high", "Nats-TTL": "5s" },
    receivedAtNs: 1n,
    stream: "EVENTS",
    consumer: "sink",
    streamCreatedAt: "2026-01-01T00:00:00Z",
    streamSequence: BigInt(sequence),
    consumerSequence: BigInt(sequence),
    timestampNs: 1_700_000_000_123_456_789n,
    deliveryCount: 2,
    pending: 3,
    ...more,
  });
}

/** Puts the dead letter of a message into the store and answers its first sequence. */
function add(store: FakeReplayStore, envelope: Envelope, overrides: Partial<DeadLetterContent> = {}, limits = wide, sink = "file"): number {
  const error = new PermanentSinkError("bad", { code: "permanent", destinationCode: "22001" });
  const messages = buildDeadLetter(envelope, error, sink, { ...content, ...overrides }).messages(limits) ?? [];
  return messages.map((message) => store.add(message))[0] ?? 0;
}

/** A sink's side that remembers what was put, and fails by script. */
class Target implements ReplayTarget {
  ready = true;
  readonly envelopes: Envelope[] = [];
  result: (envelope: Envelope) => PutResult = () => "written";

  put: ReplayTarget["put"] = async (entry, message) => {
    const envelope = replayEnvelope(entry, message, configuration);
    const result = this.result(envelope);
    this.envelopes.push(envelope);
    return result;
  };

  stop = async (): Promise<void> => undefined;

  get sequences(): number[] {
    return this.envelopes.map(({ streamSequence }) => Number(streamSequence));
  }
}

async function replay(store: FakeReplayStore, target: ReplayTarget, overrides: Partial<ReplayRequest> = {}): Promise<ReplayReport[]> {
  const request: ReplayRequest = {
    configuration,
    environment: {},
    selection: { where: {} },
    mode: "write",
    dryRun: false,
    createSink: () => {
      throw new Error("no sink here");
    },
    telemetry: silentTelemetry,
    signal: new AbortController().signal,
    ...overrides,
  };
  const reports: ReplayReport[] = [];
  for await (const report of replayFrom(store, target, request)) reports.push(report);
  return reports;
}

const results = (reports: readonly ReplayReport[]): string[] => reports.map(({ sequence, result }) => `${sequence} ${result}`);

describe("writing dead letters back", () => {
  test.each(["json", "raw"] as const)("FW-DLQ-10 FW-META-09 the envelope is what it was, under its original key (%s)", async (format) => {
    const store = new FakeReplayStore();
    const before = original(7);
    add(store, before, { format });
    const target = new Target();
    expect(results(await replay(store, target))).toEqual(["1 written"]);
    const [after] = target.envelopes as [Envelope];
    for (const field of [
      "subject",
      "stream",
      "consumer",
      "streamCreatedAt",
      "streamSequence",
      "consumerSequence",
      "timestampNs",
      "messageId",
      "priority",
      "classification",
      "labels",
      "deliveryCount",
      "redelivered",
      "pending",
    ] as const) {
      expect(after[field], field).toEqual(before[field]);
    }
    expect(after.idempotencyKey()).toBe(before.idempotencyKey());
    expect(Buffer.from(after.data)).toEqual(Buffer.from(before.data));
    expect([...after.headers].sort()).toEqual([...before.headers].sort());
  });

  test("FW-DLQ-10 FW-DLQ-05 chunks are one message again", async () => {
    const store = new FakeReplayStore();
    const data = Uint8Array.from({ length: 20_000 }, (_, index) => index % 251);
    add(store, original(7, { data }), {}, { ...wide, messageBytes: 5000 });
    const target = new Target();
    expect(results(await replay(store, target))).toEqual(["1 written"]);
    expect(target.envelopes.map((envelope) => Buffer.from(envelope.data))).toEqual([Buffer.from(data)]);
  });

  test("FW-DLQ-10 what is done is left alone, by whichever entry of it is named", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    add(store, original(2));
    const target = new Target();
    expect(results(await replay(store, target))).toEqual(["1 written", "2 written"]);
    // The server has forgotten the id: a repeat of the first is stored under a new sequence.
    const repeat = add(store, original(1));
    expect(results(await replay(store, target))).toEqual(["1 already_done", "2 already_done"]);
    expect(results(await replay(store, target, { selection: { sequences: [repeat] } }))).toEqual([`${repeat} already_done`]);
    expect(target.sequences).toEqual([1, 2]);
  });

  test("FW-DLQ-10 two entries of one message that are named together are written once", async () => {
    const store = new FakeReplayStore();
    const both = [add(store, original(1)), add(store, original(1))];
    const target = new Target();
    expect(results(await replay(store, target, { selection: { sequences: [...both, both[0] as number] } }))).toEqual([
      "1 written",
      "2 already_done",
    ]);
  });

  test("FW-DLQ-10 a death between write and marker repeats the write under the same key, and then marks", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    const target = new Target();
    store.beforePublish = () => {
      throw new DeadLetterError("no acknowledgement");
    };
    expect(results(await replay(store, target))).toEqual(["1 failed"]);
    store.beforePublish = () => undefined;
    expect(results(await replay(store, target))).toEqual(["1 written"]);
    expect(new Set(target.envelopes.map((envelope) => envelope.idempotencyKey())).size).toBe(1);
    expect(results(await replay(store, target))).toEqual(["1 already_done"]);
  });

  test("FW-DLQ-10 what the sink refuses again is not marked, and its neighbours go on", async () => {
    const store = new FakeReplayStore();
    for (const sequence of [1, 2, 3]) add(store, original(sequence));
    const target = new Target();
    target.result = ({ streamSequence }) => {
      if (streamSequence === 2n) throw new PermanentSinkError("still bad");
      return streamSequence === 3n ? "already_stored" : "written";
    };
    expect(results(await replay(store, target))).toEqual(["1 written", "2 failed", "3 already_stored"]);
    target.result = () => "written";
    expect(results(await replay(store, target))).toEqual(["1 already_done", "2 written", "3 already_done"]);
  });

  test("FW-DLQ-10 an outage ends the replay; the rest is not tried and not marked", async () => {
    const store = new FakeReplayStore();
    for (const sequence of [1, 2, 3]) add(store, original(sequence));
    const target = new Target();
    target.result = ({ streamSequence }) => {
      if (streamSequence === 2n) throw new DestinationUnavailableError("away");
      return "written";
    };
    const reports = await replay(store, target);
    expect([results(reports), reports.at(-1)?.ends]).toEqual([["1 written", "2 failed"], true]);
  });

  test("FW-DLQ-10 a sink that cannot be started is no failure of a message: the replay rejects", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    const target = new Target();
    target.ready = false;
    target.result = () => {
      throw new ConfigurationError("sink.directory: not a folder");
    };
    await expect(replay(store, target)).rejects.toThrow(/not a folder/);
    expect(store.published).toEqual([]);
  });

  test("FW-DLQ-10 a dry run writes nothing, publishes nothing and marks nothing", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    const target = new Target();
    expect(results(await replay(store, target, { dryRun: true }))).toEqual(["1 would_write"]);
    expect(results(await replay(store, publishTarget(store), { dryRun: true, mode: "publish" }))).toEqual(["1 would_publish"]);
    expect([target.envelopes, store.published]).toEqual([[], []]);
  });

  test("FW-DLQ-10 a dead-letter stream that does not take the markers is said at once, before anything is written", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    const target = new Target();
    for (const stream of ["OTHER", null]) {
      store.doneStream = stream;
      await expect(replay(store, target)).rejects.toThrow(ConfigurationError);
    }
    expect(target.envelopes).toEqual([]);
  });
});

describe("what an entry lacks", () => {
  test("FW-DLQ-10 is read from the original, by sequence and incarnation", async () => {
    const store = new FakeReplayStore();
    const before = original(7);
    add(store, before, { includePayload: false, includeHeaders: false });
    store.originals.set(7, { ...storedAs({ body: before.data, headers: new Map(before.headers), id: "m-7" }, 7), subject: "events.a" });
    const target = new Target();
    expect(results(await replay(store, target))).toEqual(["1 written"]);
    expect(store.asked).toEqual([{ stream: "EVENTS", sequence: 7, streamCreatedAt: "2026-01-01T00:00:00Z" }]);
    expect(new TextDecoder().decode(target.envelopes[0]?.data)).toBe('{"n":7}');
    expect(target.envelopes[0]?.headers.get("Team")).toBe("x");
  });

  test.each([
    ["gone", null],
    ["of another subject", { subject: "events.b", body: '{"n":7}' }],
    ["of other bytes", { subject: "events.a", body: '{"n":8}' }],
  ])("FW-DLQ-10 an original that is %s cannot be put back, and is not marked", async (_, found) => {
    const store = new FakeReplayStore();
    add(store, original(7), { includePayload: false });
    if (found !== null) {
      const message = storedAs({ body: new TextEncoder().encode(found.body), headers: new Map(), id: "m" }, 7);
      store.originals.set(7, { ...message, subject: found.subject });
    }
    expect(results(await replay(store, new Target()))).toEqual(["1 unavailable"]);
    expect(store.published).toEqual([]);
  });

  test("FW-DLQ-10 bytes that are no record of ours are not put back as a message", async () => {
    const store = new FakeReplayStore();
    const sequence = store.add({ body: new TextEncoder().encode("{}"), headers: new Map(), id: "x" });
    expect(results(await replay(store, new Target(), { selection: { sequences: [sequence, 99] } }))).toEqual([
      "1 unavailable",
      "99 not_found",
    ]);
    expect(results(await replay(store, new Target()))).toEqual([]);
  });
});

describe("choosing", () => {
  test("FW-CLI-11 all means those of this stream, consumer and sink", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    add(store, original(2, { stream: "OTHER" }));
    add(store, original(3, { consumer: "other" }));
    add(store, original(4), {}, wide, "other");
    add(store, original(5));
    const target = new Target();
    await replay(store, target);
    expect(target.sequences).toEqual([1, 5]);
    await replay(store, target, { selection: { where: { sink: "other" } } });
    expect(target.sequences).toEqual([1, 5, 4]);
  });

  test("FW-CLI-11 conditions must all hold; numbers are compared as text", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    add(store, original(2, { subject: "events.b" }));
    const chosen = async (where: object): Promise<number[]> => {
      const reports = await replay(store, new Target(), { selection: { where }, dryRun: true });
      return reports.map(({ sequence }) => sequence);
    };
    expect(await chosen({ subject: "events.b" })).toEqual([2]);
    expect(await chosen({ stream_sequence: "2", error_code: "permanent" })).toEqual([2]);
    expect(await chosen({ destination_code: "22001", priority: "high" })).toEqual([1, 2]);
    expect(await chosen({ stream_sequence: "2", error_code: "other" })).toEqual([]);
  });

  test("FW-DLQ-10 a letter that a replay brings about is not part of it", async () => {
    const store = new FakeReplayStore();
    add(store, original(1));
    const target = new Target();
    target.result = () => {
      add(store, original(store.messages.length + 100));
      return "written";
    };
    expect(results(await replay(store, target))).toEqual(["1 written"]);
  });
});

describe("publishing dead letters again", () => {
  test("FW-DLQ-10 the message goes to its subject under a new id, without what the server acts on", async () => {
    const store = new FakeReplayStore();
    add(store, original(7));
    expect(results(await replay(store, publishTarget(store), { mode: "publish" }))).toEqual(["1 published"]);
    const [message] = store.published;
    expect(message?.subject).toBe("events.a");
    expect(message?.id).toMatch(/^replay-[0-9a-f]{64}$/);
    expect(new TextDecoder().decode(message?.body)).toBe('{"n":7}');
    expect(Object.fromEntries(message?.headers ?? [])).toEqual({ Team: "x", "Nats-Sinks-Priority": "high" });
    expect(results(await replay(store, publishTarget(store), { mode: "publish" }))).toEqual(["1 already_done"]);
    expect(store.republished).toEqual(["events.a"]);
  });

  test("FW-DLQ-10 a death between publication and marker publishes no second message", async () => {
    const store = new FakeReplayStore();
    add(store, original(7));
    store.beforePublish = (subject) => {
      if (subject.endsWith(".done")) throw new DeadLetterError("no acknowledgement");
    };
    expect(results(await replay(store, publishTarget(store), { mode: "publish" }))).toEqual(["1 failed"]);
    store.beforePublish = () => undefined;
    expect(results(await replay(store, publishTarget(store), { mode: "publish" }))).toEqual(["1 already_published"]);
    expect(store.republished).toEqual(["events.a"]);
  });

  test("FW-DLQ-10 headers the server acts on are named in any case", () => {
    const headers = {
      "nats-expected-last-sequence": "1",
      "NATS-ROLLUP": "sub",
      "Nats-Schedule": "x",
      "nats-sinks-labels": "a",
      traceparent: "t",
    };
    expect([...republishedHeaders(headers).keys()]).toEqual(["nats-sinks-labels", "traceparent"]);
  });
});

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Puller } from "../../src/source/pull.js";
import { FakeConnection } from "../fakes/fake-connection.js";
import { pulling, pullSettingsOfTests } from "../fakes/pulling.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a request", () => {
  test("FW-RUN-08 asks for messages, bytes, expiry and heartbeat, each over its own inbox", () => {
    const { server, puller } = pulling();
    puller.request(10, 5000);
    puller.request(5, null);
    expect(server.requests).toEqual([
      {
        subject: pullSettingsOfTests.requestSubject,
        inbox: "_INBOX.x.p.0",
        body: { batch: 10, max_bytes: 5000, expires: 1e9, idle_heartbeat: 5e8 },
      },
      { subject: pullSettingsOfTests.requestSubject, inbox: "_INBOX.x.p.1", body: { batch: 5, expires: 1e9, idle_heartbeat: 5e8 } },
    ]);
    expect([puller.messages, puller.bytes, puller.open]).toEqual([15, 5000, 2]);
  });

  test("FW-RUN-12 an ordered one names its group, and the pin once the server has given one", () => {
    const { server, puller } = pulling({ group: "sinks" });
    puller.request(2, null);
    server.deliver(server.inbox(0), 1, 100, "pin-1");
    puller.request(2, null);
    expect(server.requests.map(({ body }) => [body.group, body.id])).toEqual([
      ["sinks", undefined],
      ["sinks", "pin-1"],
    ]);
    server.status(server.inbox(1), 423, "Nats-Wrong-Pin-Id");
    puller.request(2, null);
    expect(server.requests[2]?.body).not.toHaveProperty("id");
  });

  test("FW-RUN-06 on a connection that was closed meanwhile it neither throws nor gives room to ask again at once", () => {
    const { server, puller, take } = pulling();
    server.closed = true;
    expect(() => puller.request(10, 5000)).not.toThrow();
    expect([puller.messages, puller.bytes, puller.open]).toEqual([10, 5000, 1]);
    puller.abandon();
    expect([puller.messages, puller.bytes, puller.open, take()]).toEqual([0, 0, 0, []]);
  });
});

describe("deliveries", () => {
  test("FW-RUN-08 take their room from their pull, which ends when it is filled", () => {
    const { server, puller, take } = pulling();
    puller.request(2, 1000);
    server.deliver(server.inbox(0), 1, 300);
    expect([puller.messages, puller.bytes, take()]).toEqual([1, 700, ["delivered 1 of 300"]]);
    server.deliver(server.inbox(0), 2, 100);
    expect([puller.messages, puller.bytes, puller.open, take()]).toEqual([0, 0, 0, ["delivered 2 of 100", "ended"]]);
    expect(server.unsubscribed).toEqual([server.inbox(0)]);
  });

  test("FW-RUN-34 a message larger than what was asked for takes no more room than there is", () => {
    const { server, puller } = pulling();
    puller.request(5, 1000);
    puller.request(5, 2000);
    server.deliver(server.inbox(0), 1, 9999);
    expect([puller.messages, puller.bytes]).toEqual([9, 2000]);
  });

  test("FW-RUN-07 what has no ack subject of JetStream is neither delivered nor counted", () => {
    const { server, puller, take } = pulling();
    puller.request(2, 1000);
    for (const reply of ["", "_INBOX.other", "$JS.ACK.too.few", "$JS.FC.EVENTS.sink.1"]) {
      server.send(server.inbox(0), { subject: "events.a", reply, data: new Uint8Array(5) });
    }
    expect([puller.messages, puller.bytes, take()]).toEqual([2, 1000, []]);
  });

  test("FW-RUN-08 room that comes free inside the call that told of a delivery is true already", () => {
    const server = new FakeConnection();
    const seen: number[][] = [];
    const puller: Puller = new Puller(
      server.connection,
      pullSettingsOfTests,
      {
        delivered: () => void seen.push([puller.messages, puller.open]),
        ended: () => void seen.push([puller.messages, puller.open]),
        doubt: () => undefined,
        refused: () => undefined,
        tooLarge: () => undefined,
        pinned: () => undefined,
      },
      () => 0,
    );
    puller.request(1, null);
    server.deliver(server.inbox(0), 1);
    expect(seen).toEqual([
      [0, 1],
      [0, 0],
    ]);
  });
});

describe("statuses", () => {
  test.each([
    [100, "Idle Heartbeat", []],
    [404, "No Messages", ["ended"]],
    [408, "Request Timeout", ["ended"]],
    [409, "Batch Completed", ["ended"]],
    [409, "Message Size Exceeds MaxBytes", ["too large", "ended"]],
    [409, "Exceeded MaxWaiting", ["refused maxwaiting", "ended"]],
    [409, "Exceeded MaxRequestBatch of 100", ["refused maxrequestbatch of 100", "ended"]],
    [409, "Consumer Deleted", ["doubt consumer deleted", "ended"]],
    [409, "Leadership Change", ["doubt leadership change", "ended"]],
    [409, "Server Shutdown", ["doubt server shutdown", "ended"]],
    [423, "Nats-Wrong-Pin-Id", ["ended"]],
    [503, "", ["doubt status 503", "ended"]],
    [400, "Bad Request - Priority Group missing", ["refused bad request - priority group missing", "ended"]],
  ] as const)("FW-RUN-08 FW-RUN-06 %i %s", (code, description, expected) => {
    const { server, puller, take } = pulling();
    puller.request(10, 5000);
    server.status(server.inbox(0), code, description);
    expect(take()).toEqual(expected);
    expect(puller.open).toBe(expected.length === 0 ? 1 : 0);
    expect([puller.messages, puller.bytes]).toEqual(expected.length === 0 ? [10, 5000] : [0, 0]);
  });

  test("FW-RUN-08 an end gives back what was left, of that pull only", () => {
    const { server, puller } = pulling();
    puller.request(10, 5000);
    puller.request(10, 5000);
    server.deliver(server.inbox(0), 1, 1000);
    server.status(server.inbox(0), 408, "Request Timeout");
    expect([puller.messages, puller.bytes, puller.open]).toEqual([10, 5000, 1]);
  });
});

describe("silence", () => {
  test("FW-RUN-34 a pull without an end status gives its room back a second after its expiry, not before", () => {
    const { server, puller, take, pass } = pulling();
    puller.request(10, 5000);
    for (let at = 0; at < 1800; at += 300) {
      pass(300);
      server.status(server.inbox(0), 100);
    }
    expect(take()).toEqual([]);
    pass(1100);
    expect([take(), puller.messages, puller.open]).toEqual([["ended"], 0, 0]);
  });

  test("FW-RUN-34 a pull is not given up while messages come, however long it lasts: they would be stranded", () => {
    const { server, puller, pass } = pulling();
    puller.request(100, 100_000);
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      pass(400);
      expect(server.deliver(server.inbox(0), sequence)).toBe(true);
    }
    expect(puller.open).toBe(1);
  });

  test("FW-RUN-06 missed heartbeats give the room back and put the epoch in doubt", () => {
    const { puller, take, pass } = pulling({ expiresMs: 30_000, heartbeatMs: 500 });
    puller.request(10, 5000);
    pass(1900);
    expect(take()).toEqual([]);
    pass(200);
    expect([take(), puller.open]).toEqual([["ended", "doubt missed heartbeat"], 0]);
  });

  test("FW-RUN-34 a pull that brings messages is not closed for the silence of another", () => {
    const { server, puller, take, pass } = pulling({ expiresMs: 30_000, heartbeatMs: 500 });
    puller.request(100, 100_000);
    puller.request(100, 100_000);
    puller.request(100, 100_000);
    for (let sequence = 1; sequence <= 6; sequence += 1) {
      pass(400);
      server.deliver(server.inbox(0), sequence);
      server.deliver(server.inbox(2), 100 + sequence);
    }
    expect(take().filter((word) => !word.startsWith("delivered"))).toEqual(["ended", "doubt missed heartbeat"]);
    expect(server.unsubscribed).toEqual([server.inbox(1)]);
    expect([puller.open, puller.messages]).toEqual([2, 188]);
  });

  test("FW-RUN-34 FW-RUN-17 a blocked event loop is no silence of the server: heartbeats may still be in the socket", () => {
    const { server, puller, take, pass, block } = pulling({ expiresMs: 30_000, heartbeatMs: 500 });
    puller.request(10, 5000);
    pass(400);
    block(20_000);
    pass(1000);
    expect([take(), puller.open]).toEqual([[], 1]);
    expect(server.deliver(server.inbox(0), 1)).toBe(true);
    pass(1900);
    expect(take()).toEqual(["delivered 1 of 100"]);
    pass(500);
    expect(take()).toEqual(["ended", "doubt missed heartbeat"]);
  });

  test("FW-RUN-34 an expiry that was passed in a blocked loop waits for what is in the socket", () => {
    const { server, puller, take, pass, block } = pulling();
    puller.request(10, 5000);
    block(5000);
    pass(900);
    expect([take(), puller.open]).toEqual([[], 1]);
    server.deliver(server.inbox(0), 1);
    pass(900);
    expect(take()).toEqual(["delivered 1 of 100"]);
    pass(300);
    expect(take()).toEqual(["ended"]);
  });
});

describe("the end", () => {
  test("FW-RUN-28 FW-RUN-34 open pulls are waited for until they end", async () => {
    const { server, puller } = pulling();
    puller.request(10, 5000);
    let quiet = false;
    const waiting = puller.quiet(new AbortController().signal).then(() => {
      quiet = true;
    });
    await vi.advanceTimersByTimeAsync(500);
    expect(quiet).toBe(false);
    server.status(server.inbox(0), 408);
    await vi.advanceTimersByTimeAsync(50);
    expect(quiet).toBe(true);
    await waiting;
  });

  test("FW-RUN-34 or until they have brought no message for 1.5 s, heartbeats or not", async () => {
    const { server, puller } = pulling({ expiresMs: 30_000, heartbeatMs: 300 });
    puller.request(10, 5000);
    let quiet = false;
    void puller.quiet(new AbortController().signal).then(() => {
      quiet = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    server.deliver(server.inbox(0), 1);
    for (let beat = 0; beat < 4; beat += 1) {
      await vi.advanceTimersByTimeAsync(300);
      server.status(server.inbox(0), 100);
    }
    expect(quiet).toBe(false);
    await vi.advanceTimersByTimeAsync(350);
    expect(quiet).toBe(true);
    expect(puller.open).toBe(1);
  });

  test("FW-RUN-28 with nothing open there is nothing to wait for, and leaving cuts the wait short", async () => {
    const { puller } = pulling();
    await puller.quiet(new AbortController().signal);
    puller.request(10, 5000);
    const leaving = new AbortController();
    const waiting = puller.quiet(leaving.signal);
    leaving.abort();
    await vi.advanceTimersByTimeAsync(30);
    await waiting;
    expect(puller.open).toBe(1);
  });

  test("FW-RUN-06 after a lost connection every pull is forgotten, without a word and without touching a closed connection", () => {
    const { server, puller, take } = pulling();
    puller.request(10, 5000);
    puller.request(10, 5000);
    server.closed = true;
    puller.abandon();
    expect([puller.messages, puller.bytes, puller.open, take(), server.unsubscribed]).toEqual([0, 0, 0, [], []]);
  });

  test("FW-RUN-28 disposal closes what is open and stops the clock", () => {
    const { server, puller, take, pass } = pulling();
    puller.request(10, 5000);
    puller.dispose();
    pass(60_000);
    expect([puller.open, take(), server.unsubscribed, vi.getTimerCount()]).toEqual([0, [], [server.inbox(0)], 0]);
  });
});

describe("any course of things", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant("request" as const),
        messages: fc.integer({ min: 1, max: 5 }),
        bytes: fc.option(fc.integer({ min: 1, max: 900 })),
      }),
      fc.record({
        kind: fc.constantFrom("deliver", "end", "heartbeat", "too large", "spurious"),
        pick: fc.nat(20),
        size: fc.integer({ min: 1, max: 600 }),
      }),
      fc.record({ kind: fc.constantFrom("pass", "abandon"), ms: fc.integer({ min: 1, max: 1200 }) }),
    ),
    { maxLength: 100 },
  );

  test("FW-RUN-08 the room of open pulls is exactly what they may still bring, and never negative", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { server, puller, told, pass } = pulling();
        const left = new Map<string, { messages: number; bytes: number }>();
        let sequence = 0;
        let delivered = 0;
        for (const step of all) {
          if (step.kind === "request") {
            puller.request(step.messages, step.bytes);
            left.set(server.inbox(server.requests.length - 1), { messages: step.messages, bytes: step.bytes ?? 0 });
          } else if ("ms" in step) {
            if (step.kind === "pass") pass(step.ms);
            else puller.abandon();
          } else if (server.requests.length > 0) {
            const inbox = server.inbox(step.pick % server.requests.length);
            const room = left.get(inbox);
            if (step.kind === "deliver") sequence += 1;
            if (step.kind === "deliver" && server.deliver(inbox, sequence, step.size) && room !== undefined) {
              delivered += 1;
              room.messages -= 1;
              room.bytes = Math.max(0, room.bytes - step.size);
            }
            if (step.kind === "end") server.status(inbox, 408);
            if (step.kind === "heartbeat") server.status(inbox, 100);
            if (step.kind === "too large") server.status(inbox, 409, "Message Size Exceeds MaxBytes");
            if (step.kind === "spurious") server.send(inbox, { subject: "x", reply: "", data: new Uint8Array(1) });
          }
          for (const inbox of [...left.keys()]) if (server.unsubscribed.includes(inbox)) left.delete(inbox);
          const rooms = [...left.values()];
          expect(puller.open).toBe(rooms.length);
          expect(puller.messages).toBe(rooms.reduce((sum, { messages }) => sum + messages, 0));
          expect(puller.bytes).toBe(rooms.reduce((sum, { bytes }) => sum + bytes, 0));
          for (const { messages } of rooms) expect(messages).toBeGreaterThan(0);
        }
        expect(told.filter((word) => word.startsWith("delivered"))).toHaveLength(delivered);
        puller.dispose();
      }),
    );
  });
});

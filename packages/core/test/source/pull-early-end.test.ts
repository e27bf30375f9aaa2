import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pulling } from "../fakes/pulling.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("an end that is told before the messages, by a replicated consumer", () => {
  const left = (messages: number, bytes: number) => ({ "Nats-Pending-Messages": String(messages), "Nats-Pending-Bytes": String(bytes) });

  test("FW-RUN-08 the messages of a completed batch are waited for, and no room is asked for twice", () => {
    const { server, puller, take } = pulling();
    puller.request(3, 5000);
    server.status(server.inbox(0), 409, "Batch Completed", left(0, 4700));
    expect([take(), puller.open, puller.messages, puller.bytes]).toEqual([["ended"], 1, 3, 300]);
    for (const sequence of [1, 2, 3]) expect(server.deliver(server.inbox(0), sequence, 100)).toBe(true);
    expect(take().filter((word) => word.startsWith("delivered"))).toHaveLength(3);
    expect([puller.open, puller.messages, puller.bytes]).toEqual([0, 0, 0]);
  });

  test("FW-RUN-08 an expiry gives back what nothing was counted for, at once", () => {
    const { server, puller } = pulling();
    puller.request(10, 5000);
    server.deliver(server.inbox(0), 1, 100);
    server.status(server.inbox(0), 408, "Request Timeout", left(7, 4700));
    expect([puller.open, puller.messages, puller.bytes]).toEqual([1, 2, 200]);
    server.deliver(server.inbox(0), 2, 100);
    server.deliver(server.inbox(0), 3, 100);
    expect([puller.open, puller.messages, puller.bytes]).toEqual([0, 0, 0]);
  });

  test("FW-RUN-34 what never comes gives its room back after a second, and is no missed heartbeat", () => {
    const { puller, server, take, pass } = pulling({ expiresMs: 30_000, heartbeatMs: 500 });
    puller.request(3, 5000);
    server.status(server.inbox(0), 409, "Batch Completed", left(0, 4700));
    take();
    pass(900);
    expect(puller.open).toBe(1);
    pass(300);
    expect([take(), puller.open, puller.messages, puller.bytes]).toEqual([["ended"], 0, 0, 0]);
  });

  test("FW-RUN-06 a consumer that is gone sends nothing more: its pull ends at once", () => {
    const { server, puller, take } = pulling();
    puller.request(3, 5000);
    server.status(server.inbox(0), 409, "Consumer Deleted", left(0, 4700));
    expect([take(), puller.open]).toEqual([["doubt consumer deleted", "ended"], 0]);
  });
});

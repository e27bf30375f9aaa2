import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Puller } from "../../src/source/pull.js";
import { FakeConnection } from "../fakes/fake-connection.js";

const settings = { requestSubject: "next", inbox: "_INBOX.x.p", expiresMs: 1000, heartbeatMs: 500, group: null };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Pulls over a fake connection, under fake timers. */
function pulling() {
  const server = new FakeConnection();
  let blockedMs = 0;
  const clock = (): number => performance.now() + blockedMs;
  const nothing = (): void => undefined;
  const events = { delivered: nothing, ended: nothing, doubt: nothing, refused: nothing, tooLarge: nothing, pinned: nothing };
  const puller = new Puller(server.connection, settings, events, clock);
  /** The event loop stands still: time goes on, nothing runs. */
  const block = (ms: number): void => {
    blockedMs += ms;
  };
  return { server, puller, block, pass: (ms: number) => void vi.advanceTimersByTime(ms), silence: () => puller.silence(clock()) };
}

describe("silence as health sees it", () => {
  test("FW-RUN-06 FW-RUN-38 grows from the first pull that nobody answers, and ends with whatever comes", () => {
    const { server, puller, pass, silence } = pulling();
    expect([silence(), puller.everHeard]).toEqual([0, false]);
    puller.request(10, 5000);
    pass(1000);
    expect([silence(), puller.everHeard]).toEqual([1000, false]);
    server.status(server.inbox(0), 100);
    expect(silence()).toBe(0);
    pass(100);
    expect([silence(), puller.everHeard]).toEqual([0, true]);
    pass(700);
    expect(silence()).toBe(700);
    server.deliver(server.inbox(0), 1);
    pass(100);
    expect(silence()).toBe(0);
  });

  test("FW-RUN-06 goes on over a pull that was given up and the next that nobody answers either", () => {
    const { server, puller, pass, silence } = pulling();
    puller.request(10, 5000);
    pass(2500);
    expect([puller.open, silence()]).toEqual([0, 2500]);
    puller.request(10, 5000);
    pass(300);
    expect(silence()).toBe(2800);
    server.status(server.inbox(1), 100);
    pass(100);
    expect(silence()).toBe(0);
  });

  test("FW-RUN-06 there is none while nothing is asked for", () => {
    const { server, puller, pass, silence } = pulling();
    puller.request(1, 5000);
    pass(200);
    server.deliver(server.inbox(0), 1);
    pass(60_000);
    expect([puller.open, silence()]).toEqual([0, 0]);
    puller.request(1, 5000);
    pass(300);
    expect(silence()).toBe(300);
    puller.abandon();
    pass(60_000);
    expect(silence()).toBe(0);
  });

  test("FW-RUN-17 a blocked event loop is not the silence of the server", () => {
    const { puller, pass, block, silence } = pulling();
    puller.request(10, 5000);
    block(20_000);
    pass(100);
    expect(silence()).toBe(0);
    pass(600);
    expect(silence()).toBe(600);
  });
});

import { vi } from "vitest";
import { Puller, type PullSettings } from "../../src/source/pull.js";
import { FakeConnection } from "./fake-connection.js";

/** Settings of a pull, as tests use them. */
export const pullSettingsOfTests: PullSettings = {
  requestSubject: "$JS.API.CONSUMER.MSG.NEXT.EVENTS.sink",
  inbox: "_INBOX.x.p",
  expiresMs: 1000,
  heartbeatMs: 500,
  group: null,
};

/** Pulls over a fake connection, under fake timers; what they tell is kept in words. */
export function pulling(overrides: Partial<PullSettings> = {}) {
  const server = new FakeConnection();
  const told: string[] = [];
  let blockedMs = 0;
  const puller = new Puller(
    server.connection,
    { ...pullSettingsOfTests, ...overrides },
    {
      delivered: (_message, position, bytes) => told.push(`delivered ${position.sequence} of ${bytes}`),
      ended: () => told.push("ended"),
      doubt: (reason) => told.push(`doubt ${reason}`),
      refused: (limit) => told.push(`refused ${limit}`),
      tooLarge: () => told.push("too large"),
      pinned: () => told.push("pinned"),
    },
    () => performance.now() + blockedMs,
  );
  /** The event loop stands still: time goes on, nothing runs. */
  const block = (ms: number): void => {
    blockedMs += ms;
  };
  const pass = (ms: number): void => void vi.advanceTimersByTime(ms);
  const take = (): string[] => told.splice(0);
  return { server, puller, told, take, pass, block };
}

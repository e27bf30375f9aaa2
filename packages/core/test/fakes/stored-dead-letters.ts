import type { NextDeadLetter } from "../../src/dead-letter/list.js";
import type { DeadLetterMessage } from "../../src/dead-letter/size.js";
import type { StoredDeadLetter } from "../../src/source/dead-letter-store.js";

/** A message of a letter as the dead-letter stream gives it back. */
export function storedAs({ body, headers, id }: DeadLetterMessage, sequence: number): StoredDeadLetter {
  const all = new Map([...headers, ["Nats-Msg-Id", id]]);
  return {
    sequence,
    subject: "dlq.a",
    time: "2026-01-01T00:00:00Z",
    header: (name) => all.get(name) ?? null,
    headers: () => all,
    data: body,
  };
}

/** Reads a list of stored messages, in the order of their sequences, as a server would give them. */
export function walkable(stored: readonly StoredDeadLetter[]): NextDeadLetter {
  return async (from) => stored.find(({ sequence }) => sequence >= from) ?? null;
}

import { expect, test } from "vitest";
import { createDeadLetterReader } from "../../src/dead-letter/reader.js";
import type { StoredDeadLetter } from "../../src/source/dead-letter-store.js";

const letter = (sequence: number, subject: string, body: object, headers: Readonly<Record<string, string>> = {}): StoredDeadLetter => ({
  sequence,
  subject,
  time: "2026-01-01T00:00:00Z",
  header: (name) => headers[name] ?? null,
  headers: () => Object.entries(headers),
  data: new TextEncoder().encode(JSON.stringify(body)),
});

function memoryStore(letters: readonly StoredDeadLetter[]): Parameters<typeof createDeadLetterReader>[0] & { closed: number } {
  return {
    subject: "dlq.a",
    closed: 0,
    next: async (subject, from) => letters.find(({ sequence, subject: own }) => own === subject && sequence >= from) ?? null,
    read: async (wanted) => letters.find(({ sequence }) => sequence === wanted) ?? null,
    async [Symbol.asyncDispose]() {
      this.closed += 1;
    },
  };
}

const entry = { dlq_version: 1, subject: "events.a" };
const letters = [letter(1, "dlq.a", entry), letter(2, "dlq.b", entry), letter(3, "dlq.a.done", { sequence: 1 }), letter(4, "dlq.a", entry)];

test("FW-CLI-11 lists and reads only what stands on the dead-letter subject", async () => {
  const reader = createDeadLetterReader(memoryStore(letters));
  expect((await reader.list({ from: 1, limit: 10 })).entries.map(({ sequence }) => sequence)).toEqual([1, 4]);
  expect((await reader.read(4))?.subject).toBe("events.a");
  expect([await reader.read(2), await reader.read(3), await reader.read(9)]).toEqual([null, null, null]);
});

test("FW-DLQ-10 knows which of the entries asked for are done", async () => {
  const reader = createDeadLetterReader(memoryStore(letters));
  const [first, last] = [
    { sequence: 1, identity: "id:one" },
    { sequence: 4, identity: "id:four" },
  ];
  expect(await reader.done([first, last])).toEqual(new Set([1]));
  expect(await reader.done([last])).toEqual(new Set());
});

test("FW-DLQ-10 a repeat of an entry that is done is done as well", async () => {
  const marker = letter(9, "dlq.a.done", { sequence: 2, identity: "id:four" });
  const reader = createDeadLetterReader(memoryStore([...letters, marker]));
  expect(await reader.done([{ sequence: 4, identity: "id:four" }])).toEqual(new Set([4]));
});

test("FW-CLI-11 closes the store it has taken over", async () => {
  const store = memoryStore([]);
  await createDeadLetterReader(store)[Symbol.asyncDispose]();
  expect(store.closed).toBe(1);
});

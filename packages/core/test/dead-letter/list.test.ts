import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listDeadLetters, type NextDeadLetter, walkDeadLetters } from "../../src/dead-letter/list.js";
import type { StoredDeadLetter } from "../../src/source/dead-letter-store.js";

interface Letter {
  readonly sequence: number;
  readonly id: string;
}

function store(letters: readonly Letter[]): NextDeadLetter {
  const sorted = letters.toSorted((a, b) => a.sequence - b.sequence);
  return async (sequence) => {
    const found = sorted.find((letter) => letter.sequence >= sequence);
    if (found === undefined) return null;
    const stored: StoredDeadLetter = {
      sequence: found.sequence,
      subject: "dlq.a",
      time: "2026-01-01T00:00:00Z",
      header: (name) => (name === "Nats-Msg-Id" ? found.id : null),
      headers: () => [["Nats-Msg-Id", found.id]],
      data: new TextEncoder().encode(JSON.stringify({ dlq_version: 1, subject: "events.a", error_code: "permanent" })),
    };
    return stored;
  };
}

const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 120 });

async function pages(next: NextDeadLetter, limit: number): Promise<number[][]> {
  const out: number[][] = [];
  let from: number | null = 1;
  while (from !== null) {
    const page = await listDeadLetters(next, { from, limit });
    out.push(page.entries.map((entry) => entry.sequence));
    from = page.next;
  }
  return out;
}

describe("walking", () => {
  test("FW-CLI-11 every entry comes once and in order, whatever gaps the stream has", async () => {
    await fc.assert(
      fc.asyncProperty(sequences, fc.integer({ min: 1, max: 400 }), async (all, from) => {
        const walked: number[] = [];
        for await (const stored of walkDeadLetters(store(all.map((sequence) => ({ sequence, id: `${sequence}` }))), from))
          walked.push(stored.sequence);
        expect(walked).toEqual(all.filter((sequence) => sequence >= from).sort((a, b) => a - b));
      }),
    );
  });
});

describe("paging", () => {
  test("FW-DLQ-03 entries of one original and sink are shown once, also when they lie on different pages", async () => {
    const letters = [
      { sequence: 1, id: "aa" },
      { sequence: 2, id: "bb" },
      { sequence: 5, id: "aa" },
      { sequence: 6, id: "cc" },
      { sequence: 9, id: "bb-r1" },
      { sequence: 12, id: "dd" },
    ];
    expect(await pages(store(letters), 2)).toEqual([
      [1, 2],
      [6, 12],
    ]);
    expect((await listDeadLetters(store(letters), { from: 5, limit: 10 })).entries.map((entry) => entry.sequence)).toEqual([6, 12]);
  });

  test("FW-CLI-11 pages hold every identity exactly once, the first entry of each, and no page is over its limit", async () => {
    const letters = fc.array(
      fc.record({ sequence: fc.integer({ min: 1, max: 200 }), id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h") }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(letters, fc.integer({ min: 1, max: 7 }), async (drawn, limit) => {
        const unique = [...new Map(drawn.map((letter) => [letter.sequence, letter])).values()].sort((a, b) => a.sequence - b.sequence);
        const firsts = unique
          .filter((letter, index) => unique.findIndex((other) => other.id === letter.id) === index)
          .map((letter) => letter.sequence);
        const found = await pages(store(unique), limit);
        expect(found.flat()).toEqual(firsts);
        expect(found.every((page) => page.length <= limit)).toBe(true);
      }),
    );
  });

  test("FW-CLI-11 an empty stream gives one empty page", async () => {
    expect(await listDeadLetters(store([]), { from: 1, limit: 5 })).toEqual({ entries: [], next: null });
  });
});

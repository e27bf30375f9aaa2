import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageWrites } from "../src/execute/segment.js";
import { execute } from "./fake-execution.js";
import { type FakeRow, FakeServer, fakeForm, fakeWrite } from "./fake-server.js";

const parcels = fakeForm("parcels");
const update = fakeForm("parcels", { operation: "update", maximumRows: 1 });
const strict = fakeForm("depots", { operation: "update", maximumRows: 1, onZeroRows: "fail" });
const stock = fakeForm("stock", { operation: "upsert", cutsAtRepeatedConflict: true });
const forms = [parcels, update, strict, stock];
const ledger = { pipeline: "p", table: '"sinks_ledger"' };
const codes = ["22P02", "23505", "23503", "42501", "40001", "40P01", "55P03", "57014", "XX000", "53100", "42P01", "26000", "zero"];

const message = fc.record({
  forms: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
  code: fc.option(fc.constantFrom(...codes), { freq: 4 }),
  /** How often the failure comes before it passes. */
  times: fc.constantFrom(1, 2, Number.POSITIVE_INFINITY),
  lane: fc.nat(3),
  key: fc.constantFrom("a", "b", "c"),
});

const scenario = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 12 }),
  ordered: fc.boolean(),
  onPoison: fc.constantFrom("dead_letter_and_continue" as const, "park_key" as const, "stop" as const),
  transaction: fc.constantFrom("delivery" as const, "run" as const),
  afterFailure: fc.constantFrom("continue" as const, "stop" as const),
  withLedger: fc.boolean(),
  loss: fc.option(fc.record({ pipeline: fc.integer({ min: 1, max: 12 }), at: fc.nat(6), behind: fc.boolean() })),
  refusedCommit: fc.option(
    fc.record({ commit: fc.integer({ min: 1, max: 4 }), code: fc.constantFrom("40001", "23505", "ROLLBACK", "53100") }),
  ),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

function serverOf({ messages, loss, refusedCommit }: Scenario): FakeServer {
  const server = new FakeServer();
  const left = messages.map(({ times }) => times);
  const placeOf = (row: FakeRow) => Number(row.id.split(".")[0]);
  const fails = (row: FakeRow, zero: boolean) => {
    const place = placeOf(row);
    const { code } = messages[place] as (typeof messages)[0];
    if (!row.id.endsWith(".0") || code === null || (code === "zero") !== zero || (left[place] as number) <= 0) return null;
    left[place] = (left[place] as number) - 1;
    return code;
  };
  server.judge = (rows) => {
    for (const row of rows) {
      const code = fails(row, false);
      if (code !== null) return code;
    }
    return null;
  };
  server.touched = (rows) => (rows.some((row) => fails(row, true) !== null) ? 0 : rows.length);
  let commits = 0;
  server.judgeCommit = () => {
    commits += 1;
    return refusedCommit !== null && refusedCommit.commit === commits ? refusedCommit.code : null;
  };
  server.lose = (texts, count) => {
    if (loss === null || loss.pipeline !== count) return null;
    return { at: Math.min(loss.at, texts.length - 1), behind: loss.behind };
  };
  return server;
}

function batchOf({ messages }: Scenario): MessageWrites[] {
  return messages.map(({ forms: places, key }, index) => ({
    index,
    writes: places.map((place, part) =>
      fakeWrite(forms[place] as typeof parcels, `${index}.${part}`, { key: place === 3 ? `${key}${index % 2}` : `${index}.${part}` }),
    ),
    refused: null,
    key: `key-${index}`,
  }));
}

/** Messages of which the server has all, some or none of the rows that nothing replaced. */
function storedPlaces(server: FakeServer, batch: readonly MessageWrites[]): Map<number, "all" | "some" | "none"> {
  const ids = new Set(server.ids);
  const found = new Map<number, "all" | "some" | "none">();
  for (const { index, writes } of batch) {
    const rows = writes.filter(({ form }) => form !== stock).map((_, part) => part);
    const parts = writes.flatMap(({ form }, part) => (form === stock ? [] : [ids.has(`${index}.${part}`)]));
    if (rows.length === 0) continue;
    found.set(index, parts.every(Boolean) ? "all" : parts.some(Boolean) ? "some" : "none");
  }
  return found;
}

describe("outcomes tell the truth, whatever fails and when", () => {
  it("WO-GEN-12 WO-PG-25..30 FW-LED-01 applied is stored whole, unknown is stored whole or not at all, anything else is not stored", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const server = serverOf(given);
        const batch = batchOf(given);
        const { messages, ordered, onPoison, transaction, afterFailure, withLedger } = given;
        const context = { ordered, onPoison, lanes: ordered ? messages.map(({ lane }) => lane) : null };
        const { words } = await execute(server, batch, {
          context,
          settings: { transaction, afterFailure, ledger: withLedger ? ledger : null },
        });
        const stored = storedPlaces(server, batch);
        for (const [index, state] of stored) {
          if (words[index] === "applied") expect(state).toBe("all");
          else if (words[index] === "unknown") expect(state).not.toBe("some");
          else expect(state).toBe("none");
        }
        // A record is there exactly where the message is.
        if (withLedger) for (const [index, state] of stored) expect(server.state.records.has(`key-${index}`)).toBe(state === "all");
        // Only a message that fails by itself is condemned.
        for (const [index, word] of words.entries()) {
          const byItself =
            ["22P02", "23505", "42501", "zero"].includes(messages[index]?.code ?? "") || given.refusedCommit?.code === "23505";
          if (word === "permanent") expect(byItself).toBe(true);
        }
        expect(server.open).toBe(false);
      }),
      { numRuns: 600 },
    );
  });

  it("FW-RUN-35 FW-RUN-36 WO-GEN-13 nothing is applied behind a failure that stops its lane or its batch", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const server = serverOf(given);
        const { messages, onPoison, transaction, afterFailure, withLedger } = given;
        const lanes = messages.map(({ lane }) => lane);
        const { words } = await execute(server, batchOf(given), {
          context: { ordered: true, onPoison, lanes },
          settings: { transaction, afterFailure, ledger: withLedger ? ledger : null },
        });
        for (const [index, word] of words.entries()) {
          if (word === "applied" || word === "unknown") continue;
          const stops = word !== "permanent" || onPoison !== "dead_letter_and_continue";
          const behind = words.filter((_, place) => place > index && (afterFailure === "stop" || (stops && lanes[place] === lanes[index])));
          expect(behind).not.toContain("applied");
          expect(behind).not.toContain("unknown");
        }
      }),
      { numRuns: 500 },
    );
  });

  it("WO-GEN-11 what is applied stands in payload order", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const server = serverOf(given);
        await execute(server, batchOf(given), { settings: { transaction: given.transaction } });
        const places = server.state.rows.filter(({ table }) => table !== "stock").map(({ id }) => id.split(".").map(Number));
        const sorted = places.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);
        expect(places).toEqual(sorted);
      }),
      { numRuns: 300 },
    );
  });
});

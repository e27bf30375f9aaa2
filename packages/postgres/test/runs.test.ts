import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkQuery, chunksOf, halvesOf } from "../src/execute/chunks.js";
import { runsOf } from "../src/execute/runs.js";
import { planSegment, splitMessages } from "../src/execute/segment.js";
import { transactionUnits } from "../src/execute/transaction-units.js";
import { fakeForm, fakeWrite } from "./fake-server.js";

const forms = [fakeForm("t1"), fakeForm("t2"), fakeForm("t3", { maximumRows: 1 })];
const upsert = fakeForm("stock", { cutsAtRepeatedConflict: true, operation: "upsert" });
const noLimit = Number.MAX_SAFE_INTEGER;
const message = (index: number, writes: readonly ReturnType<typeof fakeWrite>[]) => ({ index, writes, refused: null, key: null });
const idsOf = (values: readonly unknown[]) => values.map((value) => (JSON.parse(value as string) as { id: string }).id);

describe("runs", () => {
  it("S19 WO-PG-20 WO-GEN-11 inserts into t1, t2, t1 are three statements in that order", () => {
    const [t1, t2] = forms as [ReturnType<typeof fakeForm>, ReturnType<typeof fakeForm>];
    const segment = planSegment([message(0, [fakeWrite(t1, "a"), fakeWrite(t2, "b"), fakeWrite(t1, "c")])], noLimit);
    expect(segment.chunks.map(({ form }) => form.destination)).toEqual(["t1", "t2", "t1"]);
    expect(segment.runs).toBe(3);
  });

  it("WO-PG-20 WO-GEN-11 joins all neighbours of one form and loses, repeats and moves nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2)), (places) => {
        const writes = places.map((place, index) => fakeWrite(forms[place] as (typeof forms)[0], String(index)));
        const runs = runsOf(writes);
        expect(runs.flatMap(({ from, to }) => writes.slice(from, to))).toEqual(writes);
        for (const [index, { form, from, to }] of runs.entries()) {
          expect(writes.slice(from, to).every((write) => write.form === form)).toBe(true);
          expect(runs[index + 1]?.form).not.toBe(form);
        }
      }),
    );
  });
});

describe("chunks", () => {
  it("S17 WO-PG-22 cuts before the first row whose conflict tuple stands in the chunk", () => {
    const writes = ["x", "y", "x"].map((sku, index) => fakeWrite(upsert, `${sku}${index}`, { conflict: sku }));
    const [run] = runsOf(writes);
    const chunks = chunksOf(writes, run as NonNullable<typeof run>, noLimit);
    expect(chunks.map((chunk) => idsOf(chunkQuery(writes, chunk).values))).toEqual([["x0", "y1"], ["x2"]]);
  });

  it("S18 WO-PG-21 30000 inserts of 3 columns are chunks of 21845 and 8155 rows", () => {
    const form = fakeForm("parcels", { maximumRows: Math.floor(65_535 / 3) });
    const writes = Array.from({ length: 30_000 }, (_, index) => fakeWrite(form, String(index)));
    const chunks = chunksOf(writes, { form, from: 0, to: writes.length }, noLimit);
    expect(chunks.map(({ from, to }) => to - from)).toEqual([21_845, 8155]);
  });

  it("S20 WO-PG-24 updates with one text are one run of a bind set each, another null pattern is another run", () => {
    const equal = fakeForm("t", { operation: "update", maximumRows: 1 });
    const isNull = fakeForm("t", { operation: "update", maximumRows: 1 });
    const segment = planSegment([message(0, [fakeWrite(equal, "1"), fakeWrite(equal, "2"), fakeWrite(isNull, "3")])], noLimit);
    expect(segment.runs).toBe(2);
    expect(segment.chunks).toHaveLength(3);
  });

  it("WO-PG-21 WO-PG-22 keeps order, and no chunk is over a limit or holds a tuple twice", () => {
    const write = fc.record({ conflict: fc.option(fc.constantFrom("a", "b", "c", "d")), bytes: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(
        fc.array(write, { minLength: 1 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 100 }),
        (rows, most, bytes) => {
          const form = { ...upsert, maximumRows: most };
          const writes = rows.map((fields, index) => fakeWrite(form, String(index), fields));
          const chunks = chunksOf(writes, { form, from: 0, to: writes.length }, bytes);
          expect(chunks.flatMap(({ from, to }) => writes.slice(from, to))).toEqual(writes);
          for (const [index, chunk] of chunks.entries()) {
            const part = writes.slice(chunk.from, chunk.to);
            const tuples = part.flatMap(({ conflict }) => conflict ?? []);
            const size = part.reduce((sum, each) => sum + each.bytes, 0);
            expect(part.length).toBeLessThanOrEqual(most);
            expect(part.length === 1 || size <= bytes).toBe(true);
            expect(new Set(tuples).size).toBe(tuples.length);
            const next = writes[chunks[index + 1]?.from ?? -1];
            if (next === undefined) continue;
            const needed = part.length === most || size + next.bytes > bytes || tuples.includes(next.conflict ?? "none");
            expect(needed).toBe(true);
          }
        },
      ),
    );
  });

  it("WO-PG-22 WO-GEN-19 sends rows sorted by the bytes of distinct tuples", () => {
    const tuples = ["\u{1F600}", "b", "\uFFFD", "a", "é"];
    const writes = tuples.map((conflict) => fakeWrite(upsert, conflict, { conflict }));
    const chunk = { form: upsert, from: 0, to: writes.length };
    expect(idsOf(chunkQuery(writes, chunk).values)).toEqual(["a", "b", "é", "\uFFFD", "\u{1F600}"]);
  });

  it("WO-PG-22 leaves rows in payload order where a tuple comes twice (DO NOTHING)", () => {
    const form = fakeForm("stock");
    const writes = ["b", "a", "b"].map((conflict, index) => fakeWrite(form, `${conflict}${index}`, { conflict }));
    expect(idsOf(chunkQuery(writes, { form, from: 0, to: 3 }).values)).toEqual(["b0", "a1", "b2"]);
  });

  it("WO-PG-23 halves keep the order and together are the whole", () => {
    fc.assert(
      fc.property(fc.nat(100), fc.integer({ min: 2, max: 100 }), (from, size) => {
        const [one, other] = halvesOf({ form: upsert, from, to: from + size });
        expect([one.from, one.to, other.to]).toEqual([from, other.from, from + size]);
        expect(Math.min(one.to - one.from, other.to - other.from)).toBeGreaterThan(0);
      }),
    );
  });
});

describe("transaction units and splits", () => {
  const batch = fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 30 }).map((shapes) =>
    shapes.map((shape, index) =>
      message(
        index,
        shape.map((place, part) => fakeWrite(forms[place] as (typeof forms)[0], `${index}.${part}`)),
      ),
    ),
  );

  it("WO-PG-25 `run` ends a transaction exactly where a run ends between two messages", () => {
    fc.assert(
      fc.property(batch, (messages) => {
        const units = transactionUnits(messages, "run");
        expect(units.flat()).toEqual(messages);
        for (const [index, unit] of units.entries()) {
          const next = units[index + 1]?.[0];
          expect(next === undefined || next.writes[0]?.form !== unit.at(-1)?.writes.at(-1)?.form).toBe(true);
          for (const [place, each] of unit.entries()) {
            if (place > 0) expect(each.writes[0]?.form).toBe(unit[place - 1]?.writes.at(-1)?.form);
          }
        }
        expect(transactionUnits(messages, "delivery")).toEqual([messages]);
      }),
    );
  });

  it("WO-PG-27 a split keeps order and every part is smaller", () => {
    fc.assert(
      fc.property(batch, fc.nat(29), fc.nat(29), (messages, one, other) => {
        fc.pre(messages.length > 1);
        const [from, to] = [Math.min(one, other), Math.max(one, other) + 1];
        const culprits = messages.slice(from, to);
        const parts = splitMessages(messages, culprits.length === 0 ? null : culprits);
        expect(parts.flat()).toEqual(messages);
        expect(parts.every((part) => part.length > 0 && part.length < messages.length)).toBe(true);
      }),
    );
  });
});

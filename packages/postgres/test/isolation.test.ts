import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batchOf, execute, failingOn, rows } from "./fake-execution.js";
import { type FakeRow, FakeServer, fakeForm, fakeWrite } from "./fake-server.js";

const parcels = fakeForm("parcels");
const depots = fakeForm("depots");
const update = fakeForm("parcels", { operation: "update", maximumRows: 1 });
const ledger = { pipeline: "p", table: '"sinks_ledger"' };

const bound = (size: number) => 2 * (Math.ceil(Math.log2(size)) + 1);
const names = (size: number) => Array.from({ length: size }, (_, index) => String(index));

describe("isolation by savepoints", () => {
  it("WO-PG-27 WO-PG-31 one bad row among 1000 costs at most the bound, neighbours commit once, one warning", async () => {
    for (const bad of ["0", "1", "499", "500", "998", "999"]) {
      const server = new FakeServer();
      server.judge = failingOn("23505", bad);
      const { words, outcomes, seen } = await execute(server, batchOf(...rows(parcels, ...names(1000))));
      expect(words.filter((word) => word === "applied")).toHaveLength(999);
      expect(outcomes[Number(bad)]).toMatchObject({ name: "PermanentSinkError", destinationCode: "23505" });
      expect(server.ids).toEqual(names(1000).filter((id) => id !== bad));
      expect(server.segments).toBeLessThanOrEqual(bound(1000));
      expect(seen.counts).toEqual(new Map([["sink_batch_isolations_total", 1]]));
      expect(seen.events.filter(({ event }) => event.startsWith("batch is taken apart"))).toHaveLength(1);
    }
  });

  it("WO-PG-24 WO-PG-27 where the replies name the failing statement three segments are enough", async () => {
    const server = new FakeServer();
    server.judge = failingOn("22003", "321");
    const { words } = await execute(server, batchOf(...rows(update, ...names(1000))));
    expect(words.filter((word) => word !== "applied")).toEqual(["permanent"]);
    expect(server.segments).toBe(3);
  });

  const shapes = fc.array(
    fc.record({
      forms: fc.array(fc.constantFrom(parcels, depots, update), { minLength: 1, maxLength: 3 }),
      bad: fc.integer({ min: 0, max: 9 }),
    }),
    { minLength: 2, maxLength: 60 },
  );

  it.each([
    ["savepoints", null, "delivery"],
    ["savepoints", null, "run"],
    ["transactions of a ledger", ledger, "delivery"],
  ] as const)(
    "WO-PG-27 WO-GEN-12 FW-LED-03 random bad sets by %s: bad ones alone fail, order holds, k cost at most k bounds",
    async (_way, withLedger, transaction) => {
      await fc.assert(
        fc.asyncProperty(shapes, async (messages) => {
          const server = new FakeServer();
          const batch = batchOf(...messages.map(({ forms }, index) => forms.map((form, part) => fakeWrite(form, `${index}.${part}`))));
          const isBad = (index: number) => messages[index]?.bad === 0;
          const fails = (id: string) =>
            isBad(Number(id.split(".")[0])) && id.endsWith(`.${(messages[Number(id.split(".")[0])]?.forms.length ?? 0) - 1}`);
          server.judge = (given) => (given.some(({ id }) => fails(id)) ? "22P02" : null);
          const { words } = await execute(server, batch, { settings: { ledger: withLedger, transaction } });
          expect(words).toEqual(messages.map((_, index) => (isBad(index) ? "permanent" : "applied")));
          const good = batch.filter(({ index }) => !isBad(index));
          const written = good.flatMap(({ writes }) => writes.map(({ values }) => (JSON.parse(values[0] as string) as FakeRow).id));
          expect(server.ids).toEqual(written);
          const count = messages.filter((_, index) => isBad(index)).length;
          expect(server.segments).toBeLessThanOrEqual(count * bound(messages.length));
          expect(server.open).toBe(false);
          if (withLedger !== null) expect([...server.state.records].sort()).toEqual(good.map(({ key }) => key));
        }),
        { numRuns: 300 },
      );
    },
  );

  it("WO-PG-27 a transaction of isolation ends after 500 savepoints", async () => {
    const server = new FakeServer();
    const bad = names(1000).filter((id) => Number(id) % 2 === 0);
    server.judge = failingOn("22P02", ...bad);
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(1000))));
    expect(words.filter((word) => word === "permanent")).toHaveLength(500);
    let open = 0;
    for (const text of server.pipelines.flat()) {
      if (text === "SAVEPOINT sinks_segment") open += 1;
      if (text === "COMMIT") open = 0;
      expect(open).toBeLessThanOrEqual(500);
    }
    expect(server.commits).toBeGreaterThan(1);
    // Each is removed before the next one, whether its segment succeeded or not.
    expect(server.savepoints).toBe(1);
  });

  it("WO-PG-30 a deferred violation names its segment, and a message whole in itself passes", async () => {
    const server = new FakeServer();
    const orphan = (stored: readonly FakeRow[]) =>
      stored.some(({ id }) => id.startsWith("child") && !stored.some((row) => row.id === id.replace("child", "parent")));
    server.judge = (given, { deferred, stored }) => (!deferred && orphan([...stored, ...given]) ? "23503" : null);
    server.judgeDeferred = (stored) => (orphan(stored) ? "23503" : null);
    const whole = [fakeWrite(parcels, "child1"), fakeWrite(depots, "parent1")];
    const { words } = await execute(server, batchOf(whole, ...rows(parcels, "x", "child2", "y")));
    expect(words).toEqual(["applied", "applied", "temporary", "applied"]);
    expect(server.ids).toEqual(["child1", "parent1", "x", "y"]);
    const alone = new FakeServer();
    alone.judge = server.judge;
    alone.judgeDeferred = server.judgeDeferred;
    expect((await execute(alone, batchOf(whole))).words).toEqual(["applied"]);
  });

  it("WO-GEN-13 WO-PG-27 `after_failure: stop` applies what is before the bad one and nothing behind it", async () => {
    const server = new FakeServer();
    server.judge = failingOn("22P02", "3");
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(8))), { settings: { afterFailure: "stop" } });
    expect(words).toEqual(["applied", "applied", "applied", "permanent", ...new Array(4).fill("not attempted")]);
    expect(server.ids).toEqual(["0", "1", "2"]);
  });

  it("FW-RUN-35 FW-RUN-36 a lane stops at its failure as on_poison says, other lanes go on", async () => {
    const lanes = [0, 1, 0, 1, 0, 1];
    for (const [code, onPoison, word, behind] of [
      ["22P02", "stop", "permanent", "not attempted"],
      ["22P02", "park_key", "permanent", "not attempted"],
      ["22P02", "dead_letter_and_continue", "permanent", "applied"],
      ["23503", "dead_letter_and_continue", "temporary", "not attempted"],
      ["40001", "dead_letter_and_continue", "temporary", "not attempted"],
    ] as const) {
      const server = new FakeServer();
      server.judge = failingOn(code, "2");
      const { words } = await execute(server, batchOf(...rows(parcels, ...names(6))), { context: { ordered: true, lanes, onPoison } });
      expect(words).toEqual(["applied", "applied", word, "applied", behind, "applied"]);
      expect(server.ids).toEqual(["0", "1", "3", ...(behind === "applied" ? ["4"] : []), "5"]);
    }
  });

  it("WO-PG-28 is left at once when the connection goes: what was not committed is unavailable, the rest not attempted", async () => {
    const server = new FakeServer();
    server.judge = failingOn("22P02", "0");
    server.lose = (texts) => (texts.includes("RELEASE SAVEPOINT sinks_segment") && texts.includes("WRITE parcels") ? { at: 1 } : null);
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(8))));
    expect(words[0]).toBe("unavailable");
    expect(new Set(words.slice(1))).toEqual(new Set(["unavailable", "not attempted"]));
    expect(server.ids).toEqual([]);
  });

  it("WO-PG-28 WO-PG-26 a lost COMMIT leaves what was applied unknown and what failed unavailable", async () => {
    const server = new FakeServer();
    server.judge = failingOn("22P02", "1");
    server.lose = (texts) => (texts.at(-1) === "COMMIT" ? { at: 0, behind: true } : null);
    const { words } = await execute(server, batchOf(...rows(parcels, "0", "1"), ...rows(depots, "2")));
    expect(words).toEqual(["unknown", "unavailable", "unknown"]);
    expect(server.ids).toEqual(["0", "2"]);
  });

  it("WO-PG-29 a failure that no savepoint cures goes on in transactions, and earlier verdicts are found again", async () => {
    const server = new FakeServer();
    server.judge = (given, facts) => failingOn("22P02", "0")(given) ?? (facts.stored.length > 0 ? failingOn("40001", "6")(given) : null);
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(8))));
    expect(words).toEqual(["permanent", "applied", "applied", "applied", "applied", "applied", "temporary", "applied"]);
    expect(server.ids).toEqual(["1", "2", "3", "4", "5", "7"]);
  });

  it("WO-PG-30 a COMMIT that the server refuses settles nothing: the segments are tried in transactions", async () => {
    const server = new FakeServer();
    server.judge = failingOn("22P02", "0");
    server.judgeCommit = (stored) => (stored.length > 4 ? "40001" : null);
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(6))));
    expect(words[0]).toBe("permanent");
    expect(words.slice(1).filter((word) => word === "applied")).toHaveLength(4);
    expect(server.ids).toHaveLength(4);
  });
});

describe("keys that are equal only to the database", () => {
  const stock = fakeForm("stock", { operation: "upsert", cutsAtRepeatedConflict: true });
  const upserts = (...given: readonly (readonly [string, string])[]) =>
    given.map(([id, key]) => [fakeWrite(stock, id, { key, conflict: id })]);

  it("WO-PG-23 the newest wins after one repeat of the whole, with savepoints in one transaction", async () => {
    const server = new FakeServer();
    const { words } = await execute(server, batchOf(...upserts(["z1", "a"], ["y2", "b"], ["x3", "a"], ["w4", "c"], ["v5", "b"])));
    expect(new Set(words)).toEqual(new Set(["applied"]));
    expect(server.state.rows.map(({ id }) => id).sort()).toEqual(["v5", "w4", "x3"]);
    expect(server.pipelines.flat().filter((text) => text === "BEGIN")).toHaveLength(1);
    expect(server.commits).toBe(1);
    expect(server.segments).toBe(0);
  });

  it("WO-PG-23 the newest wins for random keys, bad rows among them, with and without a ledger", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom("a", "b", "c", "d"), bad: fc.integer({ min: 0, max: 7 }), noise: fc.nat(99) }), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.boolean(),
        async (given, withLedger) => {
          const server = new FakeServer();
          const ids = given.map(({ noise }, index) => `${noise}-${index}`);
          const bad = ids.filter((_, index) => given[index]?.bad === 0);
          server.judge = failingOn("22P02", ...bad);
          const batch = batchOf(...upserts(...given.map(({ key }, index) => [ids[index] as string, key] as const)));
          const { words } = await execute(server, batch, { settings: { ledger: withLedger ? ledger : null } });
          expect(words).toEqual(ids.map((id) => (bad.includes(id) ? "permanent" : "applied")));
          const newest = new Map(
            given.flatMap(({ key }, index) => (bad.includes(ids[index] as string) ? [] : [[key, ids[index]] as const])),
          );
          expect(new Map(server.state.rows.map(({ id, key }) => [key, id]))).toEqual(newest);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("WO-PG-23 a statement that raises 21000 by itself is permanent", async () => {
    const server = new FakeServer();
    server.judge = failingOn("21000", "b");
    expect((await execute(server, batchOf(...rows(update, "a", "b", "c")))).words).toEqual(["applied", "permanent", "applied"]);
    expect((await execute(server, batchOf(...rows(update, "b")))).words).toEqual(["permanent"]);
  });
});

describe("temporary failures that come back", () => {
  it.each(["40001", "40P01", "XX000", "55006"])("WO-PG-29 %s: only the payload that raises it stays temporary", async (code) => {
    const server = new FakeServer();
    server.judge = failingOn(code, "5");
    const { words, outcomes } = await execute(server, batchOf(...rows(parcels, ...names(16))));
    expect(words.map((word, index) => (word === "applied" ? null : index)).filter((index) => index !== null)).toEqual([5]);
    expect(outcomes[5]).toMatchObject({ name: "TemporarySinkError", destinationCode: code });
    expect(server.pipelines.flat()).not.toContain("SAVEPOINT sinks_segment");
  });

  it.each(["55P03", "57014"])("WO-PG-29 %s: one message among neighbours is temporary, under limits of one second", async (code) => {
    const server = new FakeServer();
    const limits = new Set<string | undefined>();
    server.judge = (given, facts) => {
      if (facts.deferred) limits.add(`${facts.limits.get("statement_timeout")}/${facts.limits.get("lock_timeout")}`);
      return failingOn(code, "5")(given);
    };
    const { outcomes, words } = await execute(server, batchOf(...rows(parcels, ...names(16))));
    expect(words.filter((word) => word === "applied")).toHaveLength(15);
    expect(outcomes[5]?.name).toBe("TemporarySinkError");
    expect(limits).toEqual(new Set(["1000/1000"]));
  });

  it.each(["55P03", "57014"])("WO-PG-29 %s: two segments without a common message end the isolation, all is unavailable", async (code) => {
    const server = new FakeServer();
    server.judge = () => code;
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(1000))));
    expect(new Set(words)).toEqual(new Set(["unavailable"]));
    expect(server.segments).toBeLessThanOrEqual(bound(1000));
  });

  it("WO-PG-29 WO-GEN-15 alone, a message that runs into a timeout says nothing about itself: unavailable", async () => {
    const server = new FakeServer();
    server.judge = () => "55P03";
    expect((await execute(server, batchOf(...rows(parcels, "a")))).words).toEqual(["unavailable"]);
    expect((await execute(server, batchOf(...rows(parcels, "a", "b")), { context: { ordered: true, lanes: [0, 0] } })).words).toEqual([
      "unavailable",
      "not attempted",
    ]);
  });
});

describe("faults of schema and rights", () => {
  it("WO-ERR-05 names that the message chose make it permanent, its neighbours commit", async () => {
    for (const code of ["42P01", "42703", "42804", "55000"]) {
      const server = new FakeServer();
      server.judge = failingOn(code, "b");
      const chosen = ["a", "b", "c"].map((id) => [fakeWrite(parcels, id, { namesFromMessage: true })]);
      expect((await execute(server, batchOf(...chosen))).words).toEqual(["applied", "permanent", "applied"]);
    }
  });

  it("WO-ERR-06 42501 is permanent where neighbours on the same table commit, else credentials", async () => {
    const server = new FakeServer();
    server.judge = (given, { table }) => (table === "depots" ? "42501" : failingOn("42501", "b")(given));
    const { words } = await execute(server, batchOf(...rows(parcels, "a", "b"), ...rows(depots, "c", "d"), ...rows(parcels, "e")));
    expect(words).toEqual(["applied", "permanent", "credentials", "credentials", "applied"]);
    expect((await execute(server, batchOf(...rows(depots, "c")))).words).toEqual(["credentials"]);
  });

  it("WO-ERR-06 42501 of row-level security is permanent at once", async () => {
    const server = new FakeServer();
    server.judge = () => "42501";
    server.routine = "ExecWithCheckOptions";
    expect((await execute(server, batchOf(...rows(parcels, "a")))).words).toEqual(["permanent"]);
  });

  it("WO-ERR-06 23503 is temporary and holds back no neighbour", async () => {
    const server = new FakeServer();
    server.judge = failingOn("23503", "b");
    expect((await execute(server, batchOf(...rows(parcels, "a", "b", "c")))).words).toEqual(["applied", "temporary", "applied"]);
  });

  it("WO-ERR-05 an outage that appears in isolation ends it", async () => {
    const server = new FakeServer();
    let tries = 0;
    server.judge = (given) => (++tries > 2 ? "53300" : failingOn("22P02", "b")(given));
    const { words } = await execute(server, batchOf(...rows(parcels, "a", "b", "c")));
    expect(words).toContain("unavailable");
    expect(words).not.toContain("permanent");
    expect(server.open).toBe(false);
  });
});

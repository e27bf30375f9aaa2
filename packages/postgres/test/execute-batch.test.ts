import { DestinationUnavailableError, ValidationError } from "@sinks/core";
import { describe, expect, it } from "vitest";
import type { Sessions } from "../src/connection/session.js";
import type { MessageWrites } from "../src/execute/segment.js";
import { batchOf, execute, failingOn, rows } from "./fake-execution.js";
import { FakeServer, fakeForm, fakeWrite } from "./fake-server.js";

const parcels = fakeForm("parcels");
const depots = fakeForm("depots");
const update = fakeForm("parcels", { operation: "update", maximumRows: 1 });

describe("the good path", () => {
  it("WO-PG-25 a batch of one statement needs no BEGIN", async () => {
    const server = new FakeServer();
    const { words } = await execute(server, batchOf(...rows(parcels, "a", "b")));
    expect(words).toEqual(["applied", "applied"]);
    expect(server.pipelines).toEqual([["WRITE parcels"]]);
  });

  it("WO-PG-24 one run of several statements is one pipeline, COMMIT included", async () => {
    const server = new FakeServer();
    await execute(server, batchOf(...rows(update, "a", "b")));
    expect(server.pipelines).toEqual([["BEGIN", "WRITE parcels", "WRITE parcels", "COMMIT"]]);
  });

  it("WO-PG-24 several runs are one pipeline, and COMMIT goes after the replies", async () => {
    const server = new FakeServer();
    await execute(server, batchOf(...rows(parcels, "a"), ...rows(depots, "b"), ...rows(parcels, "c")));
    expect(server.pipelines).toEqual([["BEGIN", "WRITE parcels", "WRITE depots", "WRITE parcels"], ["COMMIT"]]);
    expect(server.ids).toEqual(["a", "b", "c"]);
  });

  it("WO-PG-34 limits travel with BEGIN where the connection has none, also for a single statement", async () => {
    const server = new FakeServer();
    await execute(server, batchOf(...rows(parcels, "a")), { settings: { limitsPerTransaction: true } });
    expect(server.pipelines).toEqual([
      ["BEGIN", "SET LOCAL statement_timeout = 30000", "SET LOCAL lock_timeout = 10000", "WRITE parcels", "COMMIT"],
    ]);
  });

  it("WO-PG-25 `run` commits each run, but a message's writes together", async () => {
    const server = new FakeServer();
    const spanning = [fakeWrite(parcels, "b"), fakeWrite(depots, "c")];
    const messages = batchOf(...rows(parcels, "a"), spanning, ...rows(depots, "d"), ...rows(parcels, "e"));
    await execute(server, messages, { settings: { transaction: "run" } });
    expect(server.pipelines).toEqual([["BEGIN", "WRITE parcels", "WRITE depots"], ["COMMIT"], ["WRITE parcels"]]);
    expect(server.ids).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("WO-GEN-14 an empty batch borrows no connection", async () => {
    const sessions: Sessions = { use: () => Promise.reject(new Error("borrowed")) };
    expect(await execute(sessions as FakeServer, [])).toMatchObject({ outcomes: [] });
  });

  it("FW-MAP-06 a message without writes is applied without a connection", async () => {
    const sessions: Sessions = { use: () => Promise.reject(new Error("borrowed")) };
    expect(await execute(sessions as FakeServer, batchOf([]))).toMatchObject({ words: ["applied"] });
  });
});

describe("messages that cannot be built", () => {
  const refused = new ValidationError("U+0000");

  it("S29 WO-GEN-10 the second of three is permanent, the others are applied", async () => {
    const server = new FakeServer();
    const [one, two, three] = batchOf(...rows(parcels, "a", "b", "c")) as [MessageWrites, MessageWrites, MessageWrites];
    const { words } = await execute(server, [one, { ...two, refused }, three]);
    expect(words).toEqual(["applied", "permanent", "applied"]);
    expect(server.pipelines).toEqual([["WRITE parcels"]]);
  });

  it("FW-RUN-35 FW-RUN-36 hold back what is behind them in their lane as on_poison says, and nothing before them", async () => {
    const [a, b, c, d] = batchOf(...rows(parcels, "a", "b", "c", "d")) as [MessageWrites, MessageWrites, MessageWrites, MessageWrites];
    const messages = [a, { ...b, refused }, c, d];
    const context = { ordered: true, lanes: [1, 1, 2, 1] };
    const stopped = await execute(new FakeServer(), messages, { context: { ...context, onPoison: "stop" } });
    expect(stopped.words).toEqual(["applied", "permanent", "applied", "not attempted"]);
    const goesOn = await execute(new FakeServer(), messages, { context });
    expect(goesOn.words).toEqual(["applied", "permanent", "applied", "applied"]);
  });

  it("WO-GEN-13 `after_failure: stop` leaves later messages unsent", async () => {
    const [a, b, c] = batchOf(...rows(parcels, "a", "b", "c")) as [MessageWrites, MessageWrites, MessageWrites];
    const { words } = await execute(new FakeServer(), [a, { ...b, refused }, c], { settings: { afterFailure: "stop" } });
    expect(words).toEqual(["applied", "permanent", "not attempted"]);
  });
});

describe("zero rows", () => {
  const strict = fakeForm("parcels", { operation: "update", maximumRows: 1, onZeroRows: "fail" });
  const misses = (id: string) => (given: readonly { readonly id: string }[]) => (given.some((row) => row.id === id) ? 0 : given.length);

  it("WO-PG-08 `fail` makes that message permanent, code zero_rows, and commits its neighbours once", async () => {
    const server = new FakeServer();
    server.touched = misses("b");
    const { words, outcomes } = await execute(server, batchOf(...rows(strict, "a", "b", "c")));
    expect(words).toEqual(["applied", "permanent", "applied"]);
    expect(outcomes[1]).toMatchObject({ code: "zero_rows", message: "update parcels matched no row" });
    expect(server.ids).toEqual(["a", "c"]);
  });

  it("WO-PG-08 WO-GEN-15 `fail` in a batch of one takes back what the message wrote", async () => {
    const server = new FakeServer();
    server.touched = misses("b");
    const { words, outcomes } = await execute(server, batchOf([fakeWrite(strict, "b")]));
    expect([words, outcomes[0]?.code]).toEqual([["permanent"], "zero_rows"]);
    expect(server.ids).toEqual([]);
  });

  it("WO-PG-08 a command that does not say how many rows it touched, as CALL, touched some as far as anybody knows", async () => {
    const server = new FakeServer();
    server.touched = () => null;
    const { words } = await execute(server, batchOf(...rows(strict, "a", "b")));
    expect(words).toEqual(["applied", "applied"]);
  });

  it.each([null, { pipeline: "p", table: '"ledger"' }])(
    "WO-PG-08 `warn` is told of a batch that was taken apart too: ledger %j",
    async (ledger) => {
      const server = new FakeServer();
      server.touched = misses("a");
      const lenient = fakeForm("parcels", { operation: "update", maximumRows: 1, onZeroRows: "warn" });
      const messages = batchOf([fakeWrite(lenient, "a")], [fakeWrite(lenient, "b")], [fakeWrite(strict, "a")]);
      const { words, seen } = await execute(server, messages, { settings: { ledger } });
      expect(words).toEqual(["applied", "applied", "permanent"]);
      expect(seen.events.filter(({ event }) => event === "a write matched no row")).toHaveLength(1);
    },
  );

  it("WO-PG-08 `warn` is a success and one warning", async () => {
    const server = new FakeServer();
    server.touched = () => 0;
    const form = fakeForm("parcels", { operation: "update", maximumRows: 1, onZeroRows: "warn" });
    const { words, seen } = await execute(server, batchOf(...rows(form, "a", "b")));
    expect(words).toEqual(["applied", "applied"]);
    expect(seen.events).toEqual([{ event: "a write matched no row", fields: { writes: 2, operation: "update", destination: "parcels" } }]);
  });
});

describe("the end of a connection", () => {
  it("WO-PG-28 a statement without BEGIN is unknown once it was sent", async () => {
    const server = new FakeServer();
    server.lose = () => ({ at: 0, behind: true });
    expect((await execute(server, batchOf(...rows(parcels, "a", "b")))).words).toEqual(["unknown", "unknown"]);
    expect(server.ids).toEqual(["a", "b"]);
  });

  it("WO-PG-28 inside a transaction whose COMMIT was not sent everything is unavailable", async () => {
    const server = new FakeServer();
    server.lose = () => ({ at: 2 });
    expect((await execute(server, batchOf(...rows(parcels, "a"), ...rows(depots, "b")))).words).toEqual(["unavailable", "unavailable"]);
    expect(server.ids).toEqual([]);
  });

  it("WO-PG-26 a lost reply of COMMIT makes every payload of the transaction unknown", async () => {
    const server = new FakeServer();
    server.lose = ([first]) => (first === "COMMIT" ? { at: 0, behind: true } : null);
    expect((await execute(server, batchOf(...rows(parcels, "a"), ...rows(depots, "b")))).words).toEqual(["unknown", "unknown"]);
    expect(server.ids).toEqual(["a", "b"]);
  });

  it("WO-ERR-02 WO-PG-28 what was certainly not sent is not unknown: a statement, and the COMMIT of one run", async () => {
    const bare = new FakeServer();
    bare.lose = () => ({ at: 0, sent: 0 });
    expect((await execute(bare, batchOf(...rows(parcels, "a")))).words).toEqual(["unavailable"]);
    for (const [sent, word] of [
      [3, "unavailable"],
      [4, "unknown"],
    ] as const) {
      const server = new FakeServer();
      server.lose = () => ({ at: 1, sent });
      expect((await execute(server, batchOf(...rows(update, "a", "b")))).words).toEqual([word, word]);
    }
  });

  it("WO-PG-26 the tag ROLLBACK in reply to COMMIT is a failure", async () => {
    const server = new FakeServer();
    server.judgeCommit = () => "ROLLBACK";
    expect((await execute(server, batchOf(...rows(update, "a", "b")))).words).toEqual(["temporary", "temporary"]);
    expect(server.ids).toEqual([]);
  });

  it("WO-GEN-13 later transactions are not attempted", async () => {
    const server = new FakeServer();
    server.lose = (_texts, count) => (count === 2 ? { at: 0 } : null);
    const messages = batchOf(...rows(parcels, "a"), ...rows(depots, "b"), ...rows(parcels, "c"));
    expect((await execute(server, messages, { settings: { transaction: "run" } })).words).toEqual(["applied", "unknown", "not attempted"]);
  });

  it("WO-ERR-02 without a connection nothing is attempted and the reason is given", async () => {
    const sessions: Sessions = { use: () => Promise.reject(new DestinationUnavailableError("none")) };
    expect((await execute(sessions as FakeServer, batchOf(...rows(parcels, "a", "b")))).words).toEqual(["unavailable", "unavailable"]);
  });
});

describe("failures that may pass", () => {
  it.each(["40001", "40P01", "55P03", "57014", "XX000"])("WO-PG-29 %s is tried once more after a pause", async (code) => {
    const server = new FakeServer();
    const pauses: number[] = [];
    let failures = 1;
    server.judge = () => (failures-- > 0 ? code : null);
    const wait = async (milliseconds: number) => void pauses.push(milliseconds);
    const { words } = await execute(server, batchOf(...rows(parcels, "a"), ...rows(depots, "b")), { wait });
    expect(words).toEqual(["applied", "applied"]);
    expect(pauses).toEqual([50]);
    expect(server.segments).toBe(0);
  });

  it("WO-PG-33 26000 and a cached plan are tried again at once", async () => {
    for (const [code, routine] of [["26000"], ["0A000", "RevalidateCachedQuery"]] as const) {
      const server = new FakeServer();
      let failures = 1;
      server.judge = () => (failures-- > 0 ? code : null);
      server.routine = routine;
      const wait = () => Promise.reject(new Error("waited"));
      expect((await execute(server, batchOf(...rows(update, "a", "b")), { wait })).words).toEqual(["applied", "applied"]);
    }
  });

  it("WO-PG-29 an aborted signal ends the repeats", async () => {
    const abort = new AbortController();
    abort.abort();
    const server = new FakeServer();
    server.judge = () => "40P01";
    const { words } = await execute(server, batchOf(...rows(parcels, "a")), { context: { signal: abort.signal } });
    expect(words).toEqual(["temporary"]);
    expect(server.pipelines).toHaveLength(1);
  });
});

describe("failures that are nobody's fault", () => {
  it.each([
    ["53200", "unavailable"],
    ["25006", "unavailable"],
    ["57P03", "unavailable"],
    ["42P01", "unavailable"],
    ["42703", "unavailable"],
    ["3F000", "unavailable"],
    ["55000", "unavailable"],
    ["28000", "credentials"],
  ])("WO-ERR-04 WO-ERR-05 %s leaves the whole batch %s without isolation", async (code, word) => {
    const server = new FakeServer();
    server.judge = failingOn(code, "b");
    const { words, seen } = await execute(server, batchOf(...rows(parcels, "a", "b"), ...rows(depots, "c")));
    expect(words).toEqual([word, word, word]);
    expect(seen.counts.size).toBe(0);
    expect(server.open).toBe(false);
  });

  it("WO-GEN-15 a batch of one and of many report the same error", async () => {
    for (const code of ["22P02", "23505", "23503", "42P01", "53100", "P0001"]) {
      const server = new FakeServer();
      server.judge = failingOn(code, "bad");
      const alone = await execute(server, batchOf(...rows(parcels, "bad")));
      const among = await execute(server, batchOf(...rows(parcels, "a", "bad", "c")));
      const [one, other] = [alone.outcomes[0], among.outcomes[1]];
      expect([one?.name, one?.code, one?.destinationCode, one?.message]).toEqual([
        other?.name,
        other?.code,
        other?.destinationCode,
        other?.message,
      ]);
    }
  });
});

describe("a message of several payloads", () => {
  const three = (bad: number) =>
    batchOf(
      [fakeWrite(parcels, "0"), fakeWrite(depots, "1"), fakeWrite(parcels, "2")].map((write, place) =>
        place === bad ? fakeWrite(write.form, "bad") : write,
      ),
    );

  it.each([
    [
      0,
      "insert parcels (payload 1 of 3): the server refused the write: SQLSTATE 22P02 (data exception), ERROR; payloads 2 to 3 not attempted",
    ],
    [
      1,
      "insert depots (payload 2 of 3): the server refused the write: SQLSTATE 22P02 (data exception), ERROR; payload 1 rolled back; payload 3 not attempted",
    ],
    [
      2,
      "insert parcels (payload 3 of 3): the server refused the write: SQLSTATE 22P02 (data exception), ERROR; payloads 1 to 2 rolled back",
    ],
  ])("WO-GEN-12 the error says what became of each when payload %i fails, alone and among neighbours", async (bad, text) => {
    const server = new FakeServer();
    server.judge = failingOn("22P02", "bad");
    const [message] = three(bad) as [MessageWrites];
    const alone = await execute(server, [message]);
    expect([alone.words, alone.outcomes[0]?.message]).toEqual([["permanent"], text]);
    const among = await execute(server, batchOf([fakeWrite(parcels, "a")], message.writes, [fakeWrite(parcels, "b")]));
    expect(among.words).toEqual(["applied", "permanent", "applied"]);
    expect(among.outcomes[1]?.message).toBe(text);
    expect(server.ids).toEqual(["a", "b"]);
  });
});

describe("what is logged", () => {
  it("WO-OB-03 a failure names operations, statements, index, class and code, and nothing of values", async () => {
    const server = new FakeServer();
    server.judge = failingOn("23505", "secret");
    const statement = fakeForm("park_parcel", { operation: "statement", maximumRows: 1 });
    const { seen } = await execute(server, batchOf(...rows(parcels, "a"), [fakeWrite(statement, "secret")]));
    const [isolation, failure] = seen.events;
    expect(isolation).toEqual({
      event: "batch is taken apart to find the message that fails",
      fields: {
        rows: 2,
        operations: "insert statement",
        statements: "park_parcel",
        class: "PermanentSinkError",
        code: "permanent",
        sqlstate: "23505",
      },
    });
    expect(failure).toEqual({
      event: "messages of a batch were not stored",
      fields: {
        failed: 1,
        index: 1,
        operations: "insert statement",
        statements: "park_parcel",
        class: "PermanentSinkError",
        code: "permanent",
        sqlstate: "23505",
      },
    });
    expect(JSON.stringify(seen.events)).not.toContain("secret");
  });

  it("WO-OB-03 the driver's own words are added only on request", async () => {
    const server = new FakeServer();
    server.judge = () => "23505";
    const { seen } = await execute(server, batchOf(...rows(parcels, "a")), { settings: { logDriverMessages: true } });
    expect(seen.events[0]?.fields).toMatchObject({ driver_message: "fake 23505" });
    const { seen: quiet } = await execute(server, batchOf(...rows(parcels, "a")));
    expect(quiet.events[0]?.fields).not.toHaveProperty("driver_message");
  });
});

it.each([
  ["22P02", ['"parcels"']],
  ["42804", ['"parcels"']],
  ["22012", []],
  ["22021", []],
  ["23505", []],
] as const)("WO-VAL-11 a write refused with %s has these tables looked at again: %j", async (code, expected) => {
  const server = new FakeServer();
  server.judge = failingOn(code, "b");
  const asked: (string | null)[] = [];
  const tablesChanged = async (table: string | null) => {
    asked.push(table);
    return true;
  };
  const { words } = await execute(server, batchOf(...rows(fakeForm("parcels"), "b")), { tablesChanged });
  expect(asked).toEqual(expected);
  expect(words).toEqual([expected.length > 0 ? "unavailable" : "permanent"]);
});

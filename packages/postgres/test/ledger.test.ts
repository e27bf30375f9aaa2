import { describe, expect, it } from "vitest";
import { batchOf, execute, failingOn, rows } from "./fake-execution.js";
import { FakeServer, fakeForm, fakeWrite } from "./fake-server.js";

const parcels = fakeForm("parcels");
const depots = fakeForm("depots");
const ledger = { pipeline: "p", table: '"sinks_ledger"' };
const names = (size: number) => Array.from({ length: size }, (_, index) => String(index));

describe("the ledger", () => {
  it("FW-LED-01 FW-LED-02 claims a batch in the transaction of its writes and leaves records of what was applied", async () => {
    const server = new FakeServer();
    const { words } = await execute(server, batchOf(...rows(parcels, "a", "b")), { settings: { ledger } });
    expect(words).toEqual(["applied", "applied"]);
    expect(server.pipelines.map((texts) => texts.map((text) => text.split(" ")[0]))).toEqual([
      ["BEGIN", "INSERT"],
      ["WRITE", "COMMIT"],
    ]);
    expect([...server.state.records]).toEqual(["key-00000", "key-00001"]);
  });

  it("FW-LED-02 claims in the order of the keys, whatever the order of the messages, so that two runners never cross", async () => {
    const server = new FakeServer();
    const batch = batchOf(...rows(parcels, "a", "b", "c")).map((message) => ({
      ...message,
      key: `key-${["2", "10", "1"][message.index]}`,
    }));
    await execute(server, batch, { settings: { ledger } });
    expect(server.claims).toEqual([["key-1", "key-10", "key-2"]]);
    expect(server.ids).toEqual(["a", "b", "c"]);
  });

  it("FW-LED-02 a message whose record is there is applied, and nothing is written for it", async () => {
    const server = new FakeServer();
    const batch = batchOf(...rows(parcels, "a", "b", "c"));
    server.state = { rows: [], records: new Set(["key-00001"]) };
    expect((await execute(server, batch, { settings: { ledger } })).words).toEqual(["applied", "applied", "applied"]);
    expect(server.ids).toEqual(["a", "c"]);
    expect((await execute(server, batch, { settings: { ledger } })).words).toEqual(["applied", "applied", "applied"]);
    expect(server.ids).toEqual(["a", "c"]);
    expect(server.open).toBe(false);
  });

  it("FW-LED-01 a lost COMMIT and its repetition have one effect", async () => {
    const server = new FakeServer();
    const batch = batchOf(...rows(parcels, "a"), ...rows(depots, "b"));
    server.lose = (texts) => (texts.at(-1) === "COMMIT" ? { at: 0, behind: true } : null);
    expect((await execute(server, batch, { settings: { ledger } })).words).toEqual(["unknown", "unknown"]);
    server.lose = null;
    expect((await execute(server, batch, { settings: { ledger } })).words).toEqual(["applied", "applied"]);
    expect(server.ids).toEqual(["a", "b"]);
  });

  it("FW-LED-03 the isolation takes one transaction per segment", async () => {
    const server = new FakeServer();
    server.judge = failingOn("23505", "3");
    const { words } = await execute(server, batchOf(...rows(parcels, ...names(8))), { settings: { ledger } });
    expect(words.filter((word) => word === "permanent")).toHaveLength(1);
    expect(server.pipelines.flat()).not.toContain("SAVEPOINT sinks_segment");
    expect(server.state.records.has("key-00003")).toBe(false);
    expect(server.state.records.size).toBe(7);
  });

  it("WO-ERR-05 WO-ERR-06 a ledger that is missing or forbidden is nobody's fault, also where messages chose their names", async () => {
    for (const [code, word] of [
      ["42P01", "unavailable"],
      ["42501", "credentials"],
      ["53100", "unavailable"],
    ] as const) {
      const server = new FakeServer();
      server.judgeClaim = () => code;
      const batch = batchOf(...["a", "b"].map((id) => [fakeWrite(parcels, id, { namesFromMessage: true })]));
      expect((await execute(server, batch, { settings: { ledger } })).words).toEqual([word, word]);
      expect(server.open).toBe(false);
    }
  });

  it("FW-LED-03 a key that the ledger cannot hold is that message's fault alone", async () => {
    const server = new FakeServer();
    server.judgeClaim = (keys) => (keys.includes("key-00001") ? "54000" : null);
    const { words, outcomes } = await execute(server, batchOf(...rows(parcels, "a", "b", "c")), { settings: { ledger } });
    expect(words).toEqual(["applied", "permanent", "applied"]);
    expect(outcomes[1]?.destinationCode).toBe("54000");
  });

  it("FW-LED-02 a batch without keys is refused rather than taken for applied", async () => {
    const server = new FakeServer();
    const keyless = batchOf(...rows(parcels, "a")).map((message) => ({ ...message, key: null }));
    await expect(execute(server, keyless, { settings: { ledger } })).rejects.toThrow("needs the key");
  });
});

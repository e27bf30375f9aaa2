import { describe, expect, test } from "vitest";
import { ActiveWrites } from "../../src/runner/active-writes.js";
import { entryOf } from "../fakes/entries.js";

describe("writes under way", () => {
  test("FW-RUN-16 a write older than the longest lease is aborted, once, and abandoned a grace later, once", () => {
    const writes = new ActiveWrites(1000, 200);
    const entries = [entryOf({ sequence: 1 })];
    const write = writes.begin(entries, 0);
    expect(writes.tick(999)).toEqual([]);
    expect(write.abort.signal.aborted).toBe(false);
    expect(writes.tick(1000)).toEqual([]);
    expect(write.abort.signal.aborted).toBe(true);
    expect(writes.tick(1199)).toEqual([]);
    expect(write.abandoned).toBe(false);
    expect(writes.tick(1200)).toEqual([write]);
    expect(writes.tick(9999)).toEqual([]);
    expect([write.abandoned, writes.stuck, writes.count]).toEqual([true, 1, 1]);
  });

  test("FW-RUN-16 an abandoned write keeps its slot until it ends", () => {
    const writes = new ActiveWrites(10, 10);
    const write = writes.begin([], 0);
    writes.tick(10);
    writes.tick(20);
    expect(writes.count).toBe(1);
    writes.end(write);
    expect([writes.count, writes.stuck]).toEqual([0, 0]);
  });

  test("FW-RUN-29 a write that ends within the grace is not abandoned", () => {
    const writes = new ActiveWrites(10, 10);
    const write = writes.begin([], 0);
    writes.tick(10);
    writes.end(write);
    expect(writes.tick(1000)).toEqual([]);
    expect(write.abandoned).toBe(false);
  });

  test("FW-RUN-28 the end of a shutdown aborts every write, and their grace begins then", () => {
    const writes = new ActiveWrites(60_000, 100);
    const [old, young] = [writes.begin([], 0), writes.begin([], 500)];
    writes.abortAll(600);
    expect([old.abort.signal.aborted, young.abort.signal.aborted]).toEqual([true, true]);
    writes.abortAll(650);
    expect(writes.tick(699)).toEqual([]);
    expect(writes.tick(700)).toEqual([old, young]);
  });

  test("FW-RUN-16 writes are judged one by one", () => {
    const writes = new ActiveWrites(100, 50);
    const old = writes.begin([], 0);
    const young = writes.begin([], 90);
    writes.tick(100);
    expect([old.abort.signal.aborted, young.abort.signal.aborted]).toEqual([true, false]);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { StatementCache } from "../src/connection/statement-cache.js";

test("WO-PG-33 names come from the text alone, and fit", () => {
  const [one, two] = [new StatementCache(5), new StatementCache(5)];
  expect(one.prepare("SELECT 1")).toEqual({ name: two.prepare("SELECT 1").name, close: null, parse: true });
  expect(one.prepare("SELECT 2").name).not.toBe(two.prepare("SELECT 1").name);
  expect(one.prepare("x".repeat(100_000)).name.length).toBeLessThan(64);
});

/** What a server holds, and how it runs a pipeline whose query at `failsAt` fails: nothing after that happens. */
class PlanServer {
  readonly names = new Set<string>();

  run(cache: StatementCache, texts: readonly (string | null)[], failsAt: number): void {
    for (const name of cache.takeStale()) {
      this.names.delete(name);
      cache.confirm();
    }
    for (const [index, text] of texts.entries()) {
      const skipped = index > failsAt;
      if (text === null) {
        cache.passUnnamed();
        if (!skipped) cache.confirm();
        continue;
      }
      const { name, close, parse } = cache.prepare(text);
      if (skipped) continue;
      if (close !== null) {
        this.names.delete(close);
        cache.confirm();
      }
      if (parse) {
        expect(this.names.has(name), "a name is parsed twice").toBe(false);
        this.names.add(name);
        cache.confirm();
      }
      expect(this.names.has(name), "a name is bound that is not there").toBe(true);
    }
    cache.settle();
  }
}

test("WO-PG-33 whatever fails where, every plan that is bound is on the server, and no more than the limit", () => {
  const text = fc.option(fc.constantFrom(..."abcdef"), { nil: null, freq: 8 });
  const pipeline = fc.record({ texts: fc.array(text, { maxLength: 12 }), failsAt: fc.nat(12), forgets: fc.boolean() });
  fc.assert(
    fc.property(fc.array(pipeline, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (pipelines, limit) => {
      const cache = new StatementCache(limit);
      const server = new PlanServer();
      for (const { texts, failsAt, forgets } of pipelines) {
        server.run(cache, texts, failsAt);
        expect(server.names.size).toBeLessThanOrEqual(limit);
        if (forgets && failsAt < 3) cache.forget();
      }
    }),
  );
});

test("a connection that is lost in front of the closing keeps what is to be closed", () => {
  const cache = new StatementCache(2);
  const { name } = cache.prepare("a");
  cache.confirm();
  cache.settle();
  cache.forget();
  expect(cache.takeStale()).toEqual([name]);
  cache.settle();
  expect(cache.takeStale()).toEqual([name]);
});

import { expect, test } from "vitest";
import type { PipelineResult, Session } from "../src/connection/session.js";
import { Catalog } from "../src/table/catalog.js";

/** A server whose tables all have one column `v` of a type that a test may change; it counts what is asked of each table. */
class FakeTables implements Session {
  type = "int4";
  code: string | null = null;
  readonly asked: string[] = [];

  readonly pipeline: Session["pipeline"] = async (queries): Promise<PipelineResult> => {
    this.asked.push(...queries.map(({ values }) => String(values[0])));
    const { code } = this;
    if (code === null) return { done: queries.map(() => ({ command: "SELECT", count: 1, rows: [["v", "f", this.type]] })), failure: null };
    return { done: [], failure: { kind: "server", code, sent: 1, error: { code, severity: "ERROR" } } };
  };
}

test("WO-VAL-11 a message may name any number of tables: the oldest are forgotten", async () => {
  const [tables, catalog] = [new FakeTables(), new Catalog()];
  for (let index = 0; index < 1001; index += 1) await catalog.types(tables, `"t${index}"`);
  expect(catalog.known('"t0"')).toBeNull();
  expect(catalog.known('"t1"')).not.toBeNull();
  expect(catalog.known('"t1000"')).not.toBeNull();
});

test("WO-VAL-11 a new connection has the tables read again, and is no change of them unless they differ", async () => {
  const [tables, catalog] = [new FakeTables(), new Catalog()];
  await catalog.types(tables, '"t"');
  catalog.doubtAll();
  expect(catalog.known('"t"')).toBeNull();
  await catalog.types(tables, '"t"');
  expect(catalog.changes).toBe(0);
  expect(tables.asked).toHaveLength(2);
  catalog.doubtAll();
  tables.type = "text";
  await catalog.types(tables, '"t"');
  expect(catalog.changes).toBe(1);
});

test("WO-ERR-05 a failed write puts its own tables in doubt and no others", async () => {
  const [tables, catalog] = [new FakeTables(), new Catalog()];
  for (const table of ['"t"', '"u"']) await catalog.types(tables, table);
  catalog.learn("23505", ['"t"']);
  expect([catalog.known('"t"') === null, catalog.changes]).toEqual([false, 0]);
  catalog.learn("42703", ['"t"']);
  expect([catalog.known('"t"') === null, catalog.known('"u"') === null, catalog.changes]).toEqual([true, false, 1]);
});

test("WO-VAL-11 whether types changed is asked of the given tables alone, and nobody is blamed where it cannot be told", async () => {
  const [tables, catalog] = [new FakeTables(), new Catalog()];
  for (const table of ['"t"', '"u"']) await catalog.types(tables, table);
  const built = new Map([['"t"', catalog.known('"t"')]]);
  tables.asked.length = 0;
  const ask = (given = built) => catalog.haveChanged(given, tables.pipeline);
  expect(await ask()).toBe(false);
  expect(tables.asked).toEqual(['"t"']);
  // A statement that was given up and a table that went away.
  for (const code of ["57014", "42P01"]) {
    tables.code = code;
    expect(await ask()).toBe(true);
  }
  expect(await ask(new Map([['"t"', null]]))).toBe(false);
  tables.code = null;
  expect(await ask(new Map([['"t"', null]]))).toBe(true);
  tables.type = "text";
  expect(await ask()).toBe(true);
  expect(catalog.known('"u"')).not.toBeNull();
});

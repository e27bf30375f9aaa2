import { isSinkError } from "@sinks/core";
import { expect, test } from "vitest";
import type { PipelineResult, Session, Sessions } from "../src/connection/session.js";
import { PayloadMode } from "../src/payload/payload-mode.js";
import { writeMapSource } from "../src/payload/payload-source.js";
import { createPayloadBuilder } from "../src/render/build.js";
import { Catalog } from "../src/table/catalog.js";
import { buildSettings } from "./payload-fixture.js";
import { options } from "./postgres-fixture.js";
import { message } from "./sink-fixture.js";

const signal = new AbortController().signal;
const write = ["one", "two"].map((table) => ({ when: { subject: `events.${table}` }, table, data: { v: ":payload" } }));

/** A payload mode over tables whose column `v` is an array of integers, or what a test makes of it. */
function create(
  given: { readonly answer?: (table: string) => string | { readonly code: string }; readonly used?: (catalog: Catalog) => void } = {},
) {
  const catalog = new Catalog();
  const asked: string[] = [];
  const { answer = () => "int4", used = () => undefined } = given;
  const session: Session = {
    pipeline: async (queries): Promise<PipelineResult> => {
      const table = String(queries[0]?.values[0]);
      asked.push(table);
      const says = answer(table);
      if (typeof says === "string") return { done: [{ command: "SELECT", count: 1, rows: [["v", "t", says]] }], failure: null };
      return { done: [], failure: { kind: "server", code: says.code, sent: 1, error: { ...says, severity: "ERROR" } } };
    },
  };
  const sessions: Sessions = {
    use: async (_signal, work) => {
      const result = await work(session);
      used(catalog);
      return result;
    },
  };
  const all = options({ url: "postgres://u@h/d", write });
  const settings = buildSettings();
  const source = writeMapSource({ ...all, write });
  const mode = new PayloadMode({ source, builder: createPayloadBuilder(settings), settings, catalog, statements: new Map(), options: all });
  const plan = async (...messages: (readonly [table: string, body: unknown])[]) => {
    const { messages: plans } = await mode.plan(
      messages.map(([table, body], index) => message(index + 1, body, { subject: `events.${table}` })),
      sessions,
      signal,
    );
    return plans.map((each) => (isSinkError(each) ? each.name : each[0]?.values[0]));
  };
  return { plan, asked };
}

test.each(["57014", "53200", "53300", "XX000", "40001", "25006"])(
  "WO-VAL-11 WO-ERR-01 types that cannot be read for the time being (%s) hold the batch up rather than cost a message",
  async (code) => {
    let failing = true;
    const { plan } = create({ answer: () => (failing ? { code } : "int4") });
    await expect(plan(["one", [1, 2]])).rejects.toSatisfy((error) => isSinkError(error) && error.name !== "PermanentSinkError");
    failing = false;
    expect(await plan(["one", [1, 2]])).toEqual(["{1,2}"]);
  },
);

test.each(["42P01", "42501", "3F000", "22P05"])(
  "WO-ERR-05 WO-ERR-06 a table that cannot be looked up (%s) is left to its own write",
  async (code) => {
    const { plan } = create({ answer: (table) => (table === '"one"' ? { code } : "int4") });
    expect(await plan(["one", [1]], ["two", [2]])).toEqual(["[1]", "{2}"]);
  },
);

test("WO-VAL-11 one batch is built from one reading, also when a new connection puts it in doubt meanwhile", async () => {
  const { plan, asked } = create({ used: (catalog) => catalog.doubtAll() });
  expect(await plan(["one", [1, 2]], ["two", [3]])).toEqual(["{1,2}", "{3}"]);
  expect(asked).toEqual(['"one"', '"two"']);
});

test("WO-VAL-11 a value that is refused for its type has the one table read again, and is built for the type that it has now", async () => {
  let base = "int4";
  const { plan, asked } = create({ answer: () => base });
  expect(await plan(["one", [1]], ["two", [2]])).toEqual(["{1}", "{2}"]);
  asked.length = 0;
  expect(await plan(["one", [1]], ["two", [{ a: 1 }]])).toEqual(["{1}", "ValidationError"]);
  expect(asked).toEqual(['"two"']);
  base = "jsonb";
  asked.length = 0;
  expect(await plan(["one", [1]], ["two", [{ a: 1 }]])).toEqual(["{1}", '{"{\\"a\\":1}"}']);
  expect(asked).toEqual(['"two"', '"two"']);
});

test("WO-VAL-11 a value that no type takes has nothing read again", async () => {
  const { plan, asked } = create();
  await plan(["one", [1]]);
  asked.length = 0;
  expect(await plan(["one", ["\0"]])).toEqual(["ValidationError"]);
  expect(asked).toEqual([]);
});

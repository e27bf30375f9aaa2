import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultLine } from "../../src/config/faults.js";
import { issueFaults } from "../../src/config/issue-faults.js";
import { compileWriteMap } from "../../src/write-map/compile.js";
import { options, vocabulary } from "./sample-map.js";

/** The fault lines of these options, as `sinks validate` lists them. */
function lines(given: Readonly<Record<string, unknown>>): string[] {
  const parsed = options.safeParse(given);
  return parsed.success ? [] : issueFaults(parsed.error.issues, options, given, ["sink"]).map(faultLine);
}

const insert = { place: "p", data: { a: 1 } };

describe("FW-MAP-07 faults of a rule", () => {
  test.each([
    [{ ...insert, op: "inert" }, "sink.write[0].op: not an allowed value; expected one of insert, update, push, add, call"],
    [{ ...insert, dta: 1 }, 'sink.write[0].dta: unknown key; did you mean "data"?'],
    [{ ...insert, where: { a: 1 } }, "sink.write[0].where: insert does not use where"],
    [{ place: "p" }, "sink.write[0].data: insert requires data"],
    [{ place: "p", data: {} }, "sink.write[0].data: insert requires data"],
    [{ place: "", data: { a: 1 } }, "sink.write[0].place: insert requires place or place_by"],
    [{ op: "push", key: "k" }, "sink.write[0].entry: push requires entry"],
    [{ op: "push", key: null, entry: null }, "sink.write[0].key: push requires key"],
    [
      { ...insert, data: { kg: ":paylod.kg" } },
      /^sink\.write\[0\]\.data\.kg: the reference refers to "paylod", which is none of payload, /,
    ],
    [
      { ...insert, data: { list: [1, { deep: ":subject.x" }] } },
      "sink.write[0].data.list[1].deep: the reference goes below subject, which has nothing below it",
    ],
    [{ ...insert, data: { a: ":payload..b" } }, "sink.write[0].data.a: the reference has an empty part between its dots"],
    [{ ...insert, data: { a: ":" } }, /^sink\.write\[0\]\.data\.a: the reference refers to ""/],
    [{ ...insert, data: { a: String.raw`:payload.\x` } }, /^sink\.write\[0\]\.data\.a: the reference has a backslash before/],
    [
      { ...insert, data: { a: ":subject_token.0" } },
      "sink.write[0].data.a: the reference needs the number of a token after subject_token, from 1",
    ],
    [{ ...insert, data: { a: ":subject_token" } }, /needs exactly one part after subject_token/],
    [{ ...insert, data: { a: ":header.a.b" } }, /needs exactly one part after header/],
    [{ ...insert, data: { a: ":header.a b" } }, "sink.write[0].data.a: the reference needs the name of a header after header"],
    [{ ...insert, data: { a: ":item" } }, "sink.write[0].data.a: the reference refers to item, which only a rule with each has"],
    [{ ...insert, data: { a: ":index" } }, "sink.write[0].data.a: the reference refers to index, which only a rule with each has"],
    [{ ...insert, each: "payload.lines" }, "sink.write[0].each: must be a reference to a list, such as :payload.lines"],
    [{ ...insert, each: ":item.lines" }, "sink.write[0].each: the reference refers to item, which only a rule with each has"],
    [{ ...insert, place: ":payload.place" }, "sink.write[0].place: must be written out; a reference cannot stand here"],
    [
      { op: "update", ...insert, where: { a: 1 }, update_columns: ["a", ":payload.b"] },
      "sink.write[0].update_columns[1]: must be written out; a reference cannot stand here",
    ],
    [{ op: "update", ...insert, where: ":payload" }, "sink.write[0].where: must be a mapping; only its values can be references"],
    [{ ...insert, data: "payload" }, "sink.write[0].data: must be a mapping, or one reference to an object"],
    [{ ...insert, place_by: { token: 2, allow: ["a"] } }, "sink.write[0].place_by: excludes place"],
    [{ data: { a: 1 }, place_by: { token: 0, allow: ["a"] } }, /^sink\.write\[0\]\.place_by\.token: too small/],
    [{ data: { a: 1 }, place_by: { token: 1, allow: [] } }, /^sink\.write\[0\]\.place_by\.allow: too few entries/],
    [{ op: "call", text: "pork" }, "sink.write[0].text: is not declared; declared are park"],
    [{ op: "call", text: "park", params: { lot: 1, site: 2 } }, "sink.write[0].params: park needs at; park does not take site"],
    [{ op: "call", text: "park" }, "sink.write[0].params: park needs at, lot"],
    [{ ...insert, when: {} }, "sink.write[0].when: must have at least one criterion"],
    [{ ...insert, when: { subject: "a..b" } }, /^sink\.write\[0\]\.when\.subject: must be a subject/],
    [{ ...insert, data: { a: 2 ** 60 } }, "sink.write[0].data.a: an integer beyond 2^53 loses digits here; write it in quotes"],
    [{ place: "bad name", data: { a: 1 } }, "sink.write[0].place: is no name"],
    [{ place: "bad name", data: { a: 1 }, where: { a: 1 } }, "sink.write[0].where: insert does not use where"],
  ])("FW-MAP-07 %j", (rule, line) => {
    const found = lines({ write: [rule] });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(typeof line === "string" ? new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`) : line);
  });

  test("FW-MAP-07 WO-GEN-16 everything is reported together, each with its rule", () => {
    expect(
      lines({
        limit: "x",
        write: [insert, { ...insert, op: "no" }, { place: "p", data: { a: ":nope" } }, { op: "call", text: "x" }],
        write_mode: "some",
      }),
    ).toEqual([
      expect.stringMatching(/^sink\.write\[1\]\.op: /),
      expect.stringMatching(/^sink\.write_mode: /),
      expect.stringMatching(/^sink\.limit: wrong type/),
      expect.stringMatching(/^sink\.write\[2\]\.data\.a: /),
      expect.stringMatching(/^sink\.write\[3\]\.text: /),
    ]);
  });

  test("FW-MAP-01 a write map has at least one rule", () => {
    expect(lines({ write: [] })).toEqual([expect.stringMatching(/^sink\.write: too few entries/)]);
    expect(lines({})).toEqual([]);
  });

  test("FW-MAP-07 whatever stands in a rule, the check reports it and does not fail by itself", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record(
            {
              op: fc.anything(),
              each: fc.anything(),
              when: fc.anything(),
              place: fc.anything(),
              data: fc.anything(),
              place_by: fc.anything(),
              params: fc.anything(),
            },
            { requiredKeys: [] },
          ),
        ),
        (write) => {
          expect(() => options.safeParse({ write })).not.toThrow();
        },
      ),
    );
  });

  test("FW-CFG-03 a fault never shows a value of a rule", () => {
    const secret = "s3cr3t";
    expect(lines({ write: [{ place: "p", data: { a: `:header.${secret} x` } }] }).join("\n")).not.toContain(secret);
  });

  test.each([
    [{ ...insert, op: "no" }, ["write", 0, "op"]],
    [{ ...insert, when: { subjct: "a" } }, ["write", 0, "when"]],
    [{ ...insert, other: 1 }, ["write", 0, "other"]],
    [{ place: "p", data: [1] }, ["write", 0, "data"]],
    [{ place: "p", data: "payload" }, ["write", 0, "data"]],
    [{ data: { a: 1 }, place_by: { token: 1 } }, ["write", 0, "place_by"]],
    [7, ["write", 0]],
  ])("FW-MAP-07 rules that passed no schema are judged all the same: %j", (rule, path) => {
    const compiled = compileWriteMap({ write: [rule as object as never], write_mode: "all", no_write_match: "reject" }, vocabulary);
    expect("faults" in compiled && compiled.faults.map((fault) => fault.path)).toEqual([path]);
  });

  test("FW-MAP-07 what the options let through compiles", () => {
    const compiled = compileWriteMap({ write: [insert], write_mode: "all", no_write_match: "reject" }, vocabulary);
    expect(compiled).toHaveProperty("map");
  });
});

import { describe, expect, test } from "vitest";
import { sampleEnvelope, thrownBy } from "../envelope/sample-envelope.js";
import { mapOf, payloadsOf } from "./sample-map.js";

const a = { when: { subject: "events.a" }, place: "a", data: { n: ":payload.n" } };
const any = { place: "any", data: { n: 0 } };
const b = { when: { subject: "events.b" }, place: "b", data: { n: 1 } };
const places = (payloads: unknown[]) => payloads.map((payload) => (payload as { place: string }).place);

describe("FW-MAP-01 rules", () => {
  test("FW-MAP-01 all: every matching rule applies, in order", () => {
    expect(places(payloadsOf(mapOf([b, any, a]).plan(sampleEnvelope())))).toEqual(["any", "a"]);
  });

  test("FW-MAP-01 first: only the first matching rule applies, also when it has nothing to write", () => {
    expect(places(payloadsOf(mapOf([b, a, any], { write_mode: "first" }).plan(sampleEnvelope())))).toEqual(["a"]);
    const empty = { each: ":payload.lines", place: "e", data: { n: 1 } };
    expect(mapOf([empty, any], { write_mode: "first" }).plan(sampleEnvelope({ data: '{"lines":[]}' }))).toEqual([]);
  });

  test("FW-MAP-01 no match: the message is rejected, or has nothing to write", () => {
    expect(thrownBy(() => mapOf([b]).plan(sampleEnvelope()))).toMatchObject({ name: "ValidationError", code: "no_write_match" });
    expect(mapOf([b], { no_write_match: "ignore" }).plan(sampleEnvelope())).toEqual([]);
  });

  test("FW-MAP-07 a payload names its rule and operation; fields have their API names", () => {
    const update = { op: "update", place: "p", data: { n: 1 }, where: { id: ":subject_token.2" }, update_columns: ["n"] };
    expect(mapOf([b, update]).plan(sampleEnvelope())).toEqual([
      {
        rule: { index: 1, operation: "update", namesFromMessage: false },
        payload: { op: "update", place: "p", data: { n: 1 }, where: { id: "a" }, updateColumns: ["n"] },
      },
    ]);
  });

  test("WO-GEN-01 a rule without op has the connector's default", () => {
    expect(payloadsOf(mapOf([any]).plan(sampleEnvelope()))).toEqual([{ op: "insert", place: "any", data: { n: 0 } }]);
  });
});

describe("FW-MAP-03 whole values", () => {
  test("FW-MAP-03 types are kept, text is never spliced, two colons are one", () => {
    const data = { whole: ":payload", part: "kg :payload.n", literal: "::x", more: ":::y", deep: { list: [":payload.n", null, true] } };
    expect(payloadsOf(mapOf([{ place: "p", data }]).plan(sampleEnvelope()))).toEqual([
      {
        op: "insert",
        place: "p",
        data: { whole: { n: 1 }, part: "kg :payload.n", literal: ":x", more: "::y", deep: { list: [1, null, true] } },
      },
    ]);
  });

  test("FW-MAP-03 names are never substituted", () => {
    expect(payloadsOf(mapOf([{ place: "p", data: { ":payload.n": 1 } }]).plan(sampleEnvelope()))).toEqual([
      { op: "insert", place: "p", data: { ":payload.n": 1 } },
    ]);
  });

  test("FW-MAP-03 data may be one reference to an object; its names come from the message", () => {
    const map = mapOf([{ place: "p", data: ":payload" }]);
    expect(map.plan(sampleEnvelope())).toEqual([
      { rule: { index: 0, operation: "insert", namesFromMessage: true }, payload: { op: "insert", place: "p", data: { n: 1 } } },
    ]);
  });

  test.each(["[1]", '"text"', "7", "null", "0.1000000000000000055511151231257827"])(
    "FW-MAP-03 data that is %s rejects the message",
    (data) => {
      const error = thrownBy(() => mapOf([{ place: "p", data: ":payload" }]).plan(sampleEnvelope({ data })));
      expect(error).toMatchObject({ name: "ValidationError", code: "reference_kind" });
      expect(error.message).toContain("write[0].data: :payload is not an object");
    },
  );

  test("FW-MAP-03 a list may be one reference to a list", () => {
    const map = mapOf([{ op: "add", key: "k", members: ":payload.tags" }]);
    expect(payloadsOf(map.plan(sampleEnvelope({ data: '{"tags":["x",1]}' })))).toEqual([{ op: "add", key: "k", members: ["x", 1] }]);
    expect(thrownBy(() => map.plan(sampleEnvelope({ data: '{"tags":{"x":1}}' }))).message).toContain(
      "write[0].members: :payload.tags is not a list",
    );
  });

  test("FW-MAP-03 payloads of one rule share no part that can be changed", () => {
    const map = mapOf([{ place: "p", data: { fixed: { list: [1] }, n: ":payload.n" } }]);
    const [first, second] = [map.plan(sampleEnvelope()), map.plan(sampleEnvelope())].map(
      (planned) => payloadsOf(planned)[0] as { data: { fixed: object } },
    );
    expect(first?.data).not.toBe(second?.data);
    expect(Object.isFrozen(first?.data.fixed)).toBe(true);
  });
});

describe("FW-MAP-06 each", () => {
  const map = mapOf([{ each: ":payload.lines", place: "p", data: { n: ":item", at: ":index", id: ":payload.id" } }]);

  test("FW-MAP-06 one payload for each element, none for an empty list", () => {
    expect(
      payloadsOf(map.plan(sampleEnvelope({ data: '{"id":7,"lines":["x",null]}' }))).map((payload) => (payload as { data: unknown }).data),
    ).toEqual([
      { n: "x", at: 0, id: 7 },
      { n: null, at: 1, id: 7 },
    ]);
    expect(map.plan(sampleEnvelope({ data: '{"id":7,"lines":[]}' }))).toEqual([]);
  });

  test("FW-MAP-04 a missing list rejects the message; with a question mark it has no elements", () => {
    expect(thrownBy(() => map.plan(sampleEnvelope()))).toMatchObject({ code: "reference_missing" });
    const optional = mapOf([{ each: ":payload.lines?", place: "p", data: { n: ":item" } }]);
    expect(optional.plan(sampleEnvelope())).toEqual([]);
    expect(optional.plan(sampleEnvelope({ data: '{"lines":null}' }))).toEqual([]);
    for (const each of [map, optional]) {
      const error = thrownBy(() => each.plan(sampleEnvelope({ data: '{"lines":{"0":1}}' })));
      expect(error).toMatchObject({ code: "reference_kind", message: expect.stringContaining("write[0].each: :payload.lines") });
    }
  });
});

describe("WO-ENV-06 a destination by a token of the subject", () => {
  const map = mapOf([{ place_by: { token: 2, allow: ["a", "c"] }, data: { n: 1 } }]);

  test("WO-ENV-06 an allowed token is the destination", () => {
    expect(map.plan(sampleEnvelope({ subject: "events.c.x" }))).toEqual([
      { rule: { index: 0, operation: "insert", namesFromMessage: true }, payload: { op: "insert", place: "c", data: { n: 1 } } },
    ]);
  });

  test.each(["events.b", "events", "events.a2", "a.b.c", "x.__proto__"])("WO-ENV-06 %s is rejected", (subject) => {
    expect(thrownBy(() => map.plan(sampleEnvelope({ subject })))).toMatchObject({
      name: "ValidationError",
      code: "destination_not_allowed",
    });
  });
});

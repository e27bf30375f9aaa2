import { expect, test } from "vitest";
import { matchSchema } from "../../src/config/match-schema.js";
import { compileMatch } from "../../src/route/match.js";
import { sampleEnvelope } from "../envelope/sample-envelope.js";

const envelope = sampleEnvelope({
  subject: "parcels.graz.9",
  headers: [
    ["X-Site", "north"],
    ["Nats-Sinks-Priority", "high"],
    ["Nats-Sinks-Classification", "open"],
    ["Nats-Sinks-Labels", "a;b"],
  ],
});
const bare = sampleEnvelope({ subject: "parcels.graz.9" });
const matches = (criteria: unknown, of = envelope) => compileMatch(matchSchema.parse(criteria))(of);

test.each([
  [{ subject: "parcels.>" }, true],
  [{ subject: "parcels.*.9" }, true],
  [{ subject: "parcels.*" }, false],
  [{ subject: "parcels.graz.9.>" }, false],
  [{ priority: ["low", "high"] }, true],
  [{ priority: ["High"] }, false],
  [{ classification: ["open"] }, true],
  [{ classification: ["closed"] }, false],
  [{ labels_all: ["a", "b"] }, true],
  [{ labels_all: ["a", "c"] }, false],
  [{ labels_any: ["c", "b"] }, true],
  [{ labels_any: ["c"] }, false],
  [{ labels_none: ["c"] }, true],
  [{ labels_none: ["c", "a"] }, false],
  [{ headers: [{ name: "x-SITE", values: ["south", "north"] }] }, true],
  [{ headers: [{ name: "X-Site", values: ["North"] }] }, false],
  [
    {
      headers: [
        { name: "X-Site", values: ["north"] },
        { name: "X-Other", values: ["north"] },
      ],
    },
    false,
  ],
  [{ subject: "parcels.>", priority: ["high"], labels_none: ["c"] }, true],
  [{ subject: "parcels.>", priority: ["low"] }, false],
])("FW-RTE-01 FW-RTE-02 %j: %s", (criteria, expected) => {
  expect(matches(criteria)).toBe(expected);
});

test("FW-RTE-01 a message without the value does not match it, and has none of the labels", () => {
  expect(matches({ priority: ["high"] }, bare)).toBe(false);
  expect(matches({ headers: [{ name: "X-Site", values: ["north"] }] }, bare)).toBe(false);
  expect(matches({ labels_none: ["a"] }, bare)).toBe(true);
});

test.each([
  {},
  { labels_all: ["a"], labels_none: ["a"] },
  { headers: [{ name: "Authorization", values: ["x"] }] },
  { subject: "a.>.b" },
  { payload: "x" },
])("FW-RTE-01 %j is no match", (criteria) => {
  expect(matchSchema.safeParse(criteria).success).toBe(false);
});

test("FW-RTE-01 headers are read only when a criterion asks for them", () => {
  let reads = 0;
  const watched = sampleEnvelope({
    readHeaders: () => {
      reads += 1;
      return envelope.headers;
    },
  });
  matches({ subject: "nothing" }, watched);
  matches({ subject: "nothing", priority: ["high"] }, watched);
  expect(reads).toBe(0);
  expect(matches({ priority: ["high"] }, watched)).toBe(true);
  expect(reads).toBe(1);
});

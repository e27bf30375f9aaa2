import fc from "fast-check";
import { expect, test } from "vitest";
import { indentJson } from "../src/indent-json.js";

test("FW-CFG-13 pretty gives the form of a two-space printer", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 4), (value, space) => {
      expect(indentJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test("FW-PAY-06 pretty keeps the spelling of numbers and strings", () => {
  expect(indentJson('{"a":123456789012345678901234567890,"b":[1.10,-0.0,1E400],"c":"\\u0041\\"{,:"}')).toBe(
    '{\n  "a": 123456789012345678901234567890,\n  "b": [\n    1.10,\n    -0.0,\n    1E400\n  ],\n  "c": "\\u0041\\"{,:"\n}',
  );
});

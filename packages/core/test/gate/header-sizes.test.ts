import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHeaderBlock } from "../../src/envelope/header-block.js";
import { headerBlockSizes, headerMapSizes } from "../../src/gate/header-sizes.js";

const block = (...lines: string[]): Uint8Array => Buffer.from(`NATS/1.0\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`, "utf8");

describe("sizes of a header block", () => {
  test.each([
    ["no headers", [], { count: 0, name: 0, value: 0, total: 0 }],
    ["one header", ["Name: value"], { count: 1, name: 4, value: 5, total: 9 }],
    ["bytes of UTF-8, not characters", ["N: äöü"], { count: 1, name: 1, value: 6, total: 7 }],
    ["white space around a value is not of it", ["N:  \tvalue \t"], { count: 1, name: 1, value: 5, total: 6 }],
    ["white space inside a value is", ["N: a  b"], { count: 1, name: 1, value: 4, total: 5 }],
    ["colons after the first are of the value", ["N: a:b"], { count: 1, name: 1, value: 3, total: 4 }],
    ["repeated names count each time", ["N: a", "N: bb"], { count: 2, name: 1, value: 2, total: 5 }],
    ["a line without a colon is a name", ["Nonsense"], { count: 1, name: 8, value: 0, total: 8 }],
    ["an empty value", ["Name:"], { count: 1, name: 4, value: 0, total: 4 }],
    ["a lone carriage return ends nothing", ["N: a\rb"], { count: 1, name: 1, value: 3, total: 4 }],
    ["the longest of each, from different headers", ["LongName: v", "S: longer value"], { count: 2, name: 8, value: 12, total: 22 }],
  ])("FW-POL-01 %s", (_, lines, expected) => {
    expect(headerBlockSizes(block(...lines))).toEqual(expected);
  });

  test.each(["", "NATS/1.0", "NATS/1.0\r\n", "\r\n\r\n", "NATS/1.0\r\nName: cut", "NATS/1.0 503 No Responders\r\n\r\n"])(
    "FW-POL-01 bytes that are no whole block are measured all the same: %j",
    (text) => {
      expect(headerBlockSizes(Buffer.from(text)).count).toBe(text.includes("Name") ? 1 : 0);
    },
  );

  test("FW-POL-01 the sizes are those of the headers that are parsed out of it, whatever they hold", () => {
    const name = fc.stringMatching(/^[!-9;-~]{1,12}$/);
    const value = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, "").trim());
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key.toLowerCase(), maxLength: 12 }), (headers) => {
        const bytes = block(...headers.map(([key, text]) => `${key}: ${text}`));
        expect(headerBlockSizes(bytes)).toEqual(headerMapSizes(parseHeaderBlock(bytes)));
      }),
    );
  });
});

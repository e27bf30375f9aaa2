import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHeaderBlock } from "../../src/envelope/header-block.js";
import { headersFromSource, noHeaders, normaliseHeaders } from "../../src/envelope/headers.js";
import { thrownBy } from "./sample-envelope.js";

const block = (...lines: string[]) => Buffer.from(`NATS/1.0\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`, "utf8");

describe("FW-ENV-03 headers", () => {
  test("FW-ENV-03 names are trimmed, empty ones and ones with controls are dropped and counted", () => {
    const headers = normaliseHeaders([
      ["  X-Trace ", "a"],
      ["", "b"],
      ["   ", "c"],
      ["X-\u0001Bad", "d"],
      ["X-\u007fBad", "e"],
      ["Y", "f"],
    ]);
    expect([...headers]).toEqual([
      ["X-Trace", "a"],
      ["Y", "f"],
    ]);
    expect(headers.dropped).toBe(4);
  });

  test("FW-ENV-03 repeated headers are joined with a comma in order, the first spelling kept", () => {
    const headers = normaliseHeaders([
      ["X-A", "1"],
      ["Z", "z"],
      ["x-a", "2"],
      ["X-A", ""],
      ["X-A", "3"],
    ]);
    expect([...headers.entries()]).toEqual([
      ["X-A", "1,2,,3"],
      ["Z", "z"],
    ]);
    expect([...headers.keys()]).toEqual(["X-A", "Z"]);
    expect([...headers.values()]).toEqual(["1,2,,3", "z"]);
    expect(headers.size).toBe(2);
  });

  test("FW-ENV-03 look-up ignores the case of ASCII letters and of no others", () => {
    const headers = normaliseHeaders([["Nats-Sinks-Key", "v"]]);
    expect(headers.get("nats-SINKS-key")).toBe("v");
    expect(headers.has("NATS-SINKS-KEY")).toBe(true);
    // The Kelvin sign lower-cases to "k" in Unicode.
    expect(headers.get("Nats-Sinks-\u212aey")).toBeUndefined();
    expect(headers.has("Other")).toBe(false);
  });

  test("FW-ENV-03 look-up and joining work beyond a handful of headers and for hostile names", () => {
    const names = [...Array.from({ length: 40 }, (_, position) => `H-${position}`), "__proto__", "constructor"];
    const headers = normaliseHeaders([...names.map((name) => [name, `of ${name}`] as const), ["h-3", "again"], ["H-39", "again"]]);
    expect(headers.size).toBe(42);
    for (const name of names) {
      const again = name === "H-3" || name === "H-39" ? ",again" : "";
      expect(headers.get(name.toUpperCase())).toBe(`of ${name}${again}`);
    }
    expect(headers.get("toString")).toBeUndefined();
  });

  test("FW-ENV-03 a name or value that no header line can hold is headers_malformed, without its text", () => {
    for (const [name, value] of [
      ["Bad Secret", "v"],
      ["B\u00e4d", "v"],
      ["a:b", "v"],
      ["Good", "secret\nline"],
      ["Good", "secret\rline"],
    ] as const) {
      const error = thrownBy(() => normaliseHeaders([[name, value]]));
      expect(error.name).toBe("SerializationError");
      expect(error.code).toBe("headers_malformed");
      expect(error.message).not.toMatch(/secret|Secret|B\u00e4d/);
    }
  });

  test("FW-ENV-01 a header map cannot be changed", () => {
    const headers = normaliseHeaders([["A", "1"]]);
    expect(Object.isFrozen(headers)).toBe(true);
    expect(() => Object.assign(headers, { extra: 1 })).toThrow(TypeError);
    for (const entry of headers) entry[1] = "changed";
    expect(headers.get("A")).toBe("1");
  });

  test("FW-ENV-03 a client's headers are read value by value", () => {
    const values: Record<string, string[]> = { "X-A": ["1", "2"], "x-a": ["3"], B: [" padded "] };
    const headers = headersFromSource({ keys: () => Object.keys(values), values: (name) => values[name] as string[] });
    expect([...headers]).toEqual([
      ["X-A", "1,2,3"],
      ["B", "padded"],
    ]);
  });
});

describe("FW-ENV-03 header blocks", () => {
  test("FW-ENV-03 a block is read as sent: trimmed, empty values kept, lines without a colon dropped", () => {
    const headers = parseHeaderBlock(block("Nats-Msg-Id:id-1", "X : a:b ", ": nameless", "no colon", "Empty:", "X:second"));
    expect([...headers]).toEqual([
      ["Nats-Msg-Id", "id-1"],
      ["X", "a:b,second"],
      ["Empty", ""],
    ]);
    expect(headers.dropped).toBe(2);
    expect(parseHeaderBlock(block())).toBe(noHeaders);
    expect(parseHeaderBlock(Buffer.from("NATS/1.0 503 No Responders\r\n\r\n")).size).toBe(0);
  });

  test("FW-ENV-03 what is no block is headers_malformed", () => {
    for (const bytes of [
      Buffer.from("HTTP/1.1\r\nA: b\r\n\r\n"),
      Buffer.from(""),
      block("Bad Name: x"),
      Buffer.concat([block("A: b"), Buffer.from([0xff])]),
    ]) {
      expect(thrownBy(() => parseHeaderBlock(bytes)).code).toBe("headers_malformed");
    }
  });

  test("FW-ENV-03 a block gives what its single headers give (property)", () => {
    const name = fc.stringMatching(/^[!-9;-~]{1,12}$/);
    const value = fc.stringMatching(/^[ -~\u00e0-\u00ff]{0,20}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 30 }), (pairs) => {
        const read = parseHeaderBlock(block(...pairs.map(([each, text]) => `${each}: ${text}`)));
        expect([...read]).toEqual([...normaliseHeaders(pairs)]);
      }),
    );
  });

  test("FW-ENV-03 normalisation agrees with a plain model (property)", () => {
    const name = fc.constantFrom("A", "a", "B", "b ", " C", "", " ", "D\u0000", "Nats-Msg-Id", "nats-msg-id", "E", "F", "G", "H", "I", "J");
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            name,
            fc.string().filter((text) => !/[\r\n]/.test(text)),
          ),
          { maxLength: 40 },
        ),
        (pairs) => {
          const model = new Map<string, { name: string; values: string[] }>();
          let dropped = 0;
          for (const [given, value] of pairs) {
            const trimmed = given.trim();
            if (trimmed === "" || trimmed.includes("\u0000")) dropped += 1;
            else {
              const entry = model.get(trimmed.toLowerCase()) ?? { name: trimmed, values: [] };
              entry.values.push(value.trim());
              model.set(trimmed.toLowerCase(), entry);
            }
          }
          const headers = normaliseHeaders(pairs);
          expect([...headers]).toEqual([...model.values()].map((entry) => [entry.name, entry.values.join(",")]));
          expect(headers.dropped).toBe(dropped);
          for (const [folded, entry] of model) expect(headers.get(folded.toUpperCase())).toBe(entry.values.join(","));
        },
      ),
    );
  });
});

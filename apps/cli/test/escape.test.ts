import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cap, escapeControls, oneLine, redactUserInfo } from "../src/output/escape.js";
import { jsonText } from "../src/output/json-text.js";

const dangerous = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

describe("text for a terminal or a log", () => {
  test("FW-OBS-04 no text keeps a control character or a mark that reorders text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(escapeControls(text)).not.toMatch(dangerous);
        expect(oneLine(text)).not.toMatch(dangerous);
      }),
    );
  });

  test("FW-OBS-04 JSON keeps none either, and still says the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(jsonText({ text })).not.toMatch(dangerous);
        expect(JSON.parse(jsonText({ text }))).toEqual({ text });
      }),
    );
  });

  test("FW-OBS-04 an escape sequence becomes visible text", () => {
    expect(escapeControls("a\u001b[31mb\nc\td\u202ee")).toBe("a\\u001b[31mb\\nc\\td\\u202ee");
  });

  test("FW-CLI-04 the login of a URL is taken out, whatever the password holds", () => {
    expect(redactUserInfo("at nats://bob:p@ss:w0rd@host:4222 and postgres://u@h/db")).toBe(
      "at nats://[redacted]@host:4222 and postgres://[redacted]@h/db",
    );
    expect(redactUserInfo("nats://host:4222/a@b")).toBe("nats://host:4222/a@b");
  });

  test("FW-OBS-04 long text is cut and says so", () => {
    expect(cap("abcdef", 4)).toBe("abcd…(+2)");
    expect(cap("abcd", 4)).toBe("abcd");
    expect(oneLine("x".repeat(5000)).length).toBeLessThan(2020);
  });
});

describe("JSON results", () => {
  test("FW-CLI-04 integers beyond 2^53 keep their digits", () => {
    expect(jsonText({ small: 12n, large: 9007199254740993n })).toBe('{"small":12,"large":9007199254740993}');
  });

  test("FW-CLI-04 any JSON value survives, compact and indented alike", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(jsonText(value, 2)).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  test("FW-CFG-04 what prints itself redacted stays so", () => {
    expect(jsonText({ password: { value: "hunter2", toJSON: () => "[redacted]" }, absent: undefined })).toBe('{"password":"[redacted]"}');
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indentJson } from "../src/indent-json.js";
import { memberText, spaceJson } from "../src/json-scan.js";
import { recordText } from "../src/record.js";
import { payloadState } from "../src/stored-payload.js";
import { message } from "./fixture.js";

const plain = { payload_mode: "json_or_envelope", include_metadata: true } as const;
const recordOf = (body: string | Uint8Array, options: Parameters<typeof recordText>[1] = plain) =>
  recordText(message(7, body), options, 1n);
const value = fc.jsonValue({ maxDepth: 3 });
const printed = fc
  .tuple(value, fc.constantFrom(undefined, 2, 4, "\t"), fc.constantFrom("", "\n"))
  .map(([document, space, end]) => JSON.stringify(document, null, space) + end);

describe("FW-CLI-07 the payload of a stored record", () => {
  test("is whole as it was written, in every form, in one line and pretty", () => {
    const body = fc.oneof(printed, fc.string(), fc.uint8Array({ maxLength: 60 }));
    const mode = fc.constantFrom("json_or_envelope", "bytes_envelope", "text_envelope");
    fc.assert(
      fc.property(body, mode, fc.boolean(), (given, payloadMode, metadata) => {
        fc.pre(payloadMode !== "text_envelope" || typeof given === "string");
        fc.pre(typeof given !== "string" || given.isWellFormed());
        const text = recordOf(given, { payload_mode: payloadMode, include_metadata: metadata });
        expect([payloadState(text), payloadState(`${text}\n`), payloadState(indentJson(text))]).toEqual(["whole", "whole", "whole"]);
      }),
    );
  });

  test("is damaged when one character of the body is another one, wherever the record itself stays JSON", () => {
    fc.assert(
      fc.property(fc.oneof(printed, fc.string()), fc.nat(), fc.boolean(), (body, place, pretty) => {
        fc.pre(body.isWellFormed());
        const whole = recordOf(body);
        const text = pretty ? indentJson(whole) : whole;
        const payload = memberText(text, "payload") as string;
        const start = text.indexOf(payload, text.indexOf('"custody"'));
        const letters = [...payload.matchAll(/[a-z0-9]/gi)].map(({ index }) => index);
        fc.pre(letters.length > 0);
        const at = start + (letters[place % letters.length] as number);
        const damaged = `${text.slice(0, at)}${text[at] === "1" ? "2" : "1"}${text.slice(at + 1)}`;
        fc.pre(isJson(damaged) && JSON.stringify(JSON.parse(damaged)) !== JSON.stringify(JSON.parse(text)));
        // The wrapper repeats what stands beside it; only the body counts.
        fc.pre(JSON.stringify(bodyOf(damaged)) !== JSON.stringify(bodyOf(text)));
        expect(payloadState(damaged)).not.toBe("whole");
        if (!pretty && !/[\r\n]/.test(body)) expect(payloadState(damaged)).toBe("damaged");
      }),
    );
  });

  test("with white space of its own is unknown once that is lost, and damaged when its size is wrong", () => {
    const odd = '{ "a" :1 ,\n "b":2}';
    expect(payloadState(recordOf(odd.replace("\n", "")))).toBe("whole");
    expect(payloadState(recordOf(odd))).toBe("unknown");
    expect(payloadState(indentJson(recordOf(odd)))).toBe("unknown");
    expect(payloadState(recordOf(odd).replace(" :1 ,", " :1,"))).toBe("damaged");
    expect(payloadState(indentJson(recordOf(odd)).replace('"a": 1', `"a": "${"long".repeat(9)}"`))).toBe("damaged");
  });

  test("that was withheld is whole while it is null", () => {
    const record = { payload: null, payload_info: { original_format: "omitted", wrapped: false, sha256: null, size_bytes: 0 } };
    expect(payloadState(JSON.stringify(record))).toBe("whole");
    expect(payloadState(JSON.stringify({ ...record, payload: 1 }))).toBe("damaged");
    expect(payloadState(JSON.stringify({ payload: 1, payload_info: null }))).toBe("damaged");
    expect(payloadState("{}")).toBe("damaged");
  });
});

describe("the text of JSON", () => {
  test("loses no token and no character of a string, whatever its spacing", () => {
    fc.assert(
      fc.property(value, (document) => {
        const text = JSON.stringify(document);
        expect(spaceJson(JSON.stringify(document, null, 2), "", "")).toBe(text);
        expect(JSON.parse(spaceJson(text, " ", " "))).toEqual(JSON.parse(text));
        expect(JSON.parse(indentJson(text, "\t"))).toEqual(JSON.parse(text));
        const outer = `{"before":{"payload":0,"x":["payload"]},"y":"payload","payload":${text},"after":${text}}`;
        expect(memberText(outer, "payload")).toBe(text);
        expect(memberText(`{"payload":${text}}`, "payload")).toBe(text);
      }),
    );
    expect(memberText('{"a":1}', "payload")).toBeNull();
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function bodyOf(text: string): unknown {
  const { payload, payload_info: info } = JSON.parse(text) as { payload: { payload?: unknown }; payload_info: { wrapped: boolean } };
  return info.wrapped ? payload.payload : payload;
}

import { describe, expect, test } from "vitest";
import type { Configuration } from "../../src/config/schema.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { encodeJson } from "../../src/envelope/json-encode.js";
import { isErrorKind } from "../../src/error/errors.js";
import { headerBlockSizes, headerMapSizes } from "../../src/gate/header-sizes.js";
import { SizeLimits } from "../../src/gate/size-limits.js";
import { configurationWith } from "../config/faults-of.js";
import { type SampleFields, sampleEnvelope } from "../envelope/sample-envelope.js";

type Limits = Partial<Omit<Configuration["size_policy"], "enabled">>;

/** The standard limits with some of them changed; rules between them are checked elsewhere. */
function limitsOf(changed: Limits): SizeLimits {
  const { size_policy: standard } = validateConfiguration(configurationWith({ size_policy: { enabled: true } }));
  return new SizeLimits({ ...standard, ...changed });
}

function rawCode(changed: Limits, fields: SampleFields, lines: readonly string[] = []): string | null {
  const sizes = headerBlockSizes(Buffer.from(`NATS/1.0\r\n${lines.join("\r\n")}\r\n\r\n`));
  return limitsOf(changed).raw(sampleEnvelope(fields), sizes)?.code ?? null;
}

function derivedCode(changed: Limits, fields: SampleFields): string | null {
  const envelope = sampleEnvelope(fields);
  return limitsOf(changed).derived(envelope, headerMapSizes(envelope.headers))?.code ?? null;
}

describe("raw limits", () => {
  test.each([
    ["payload_too_large", "max_payload_bytes", 6, { data: "äöü" }, []],
    ["header_count_too_large", "max_header_count", 2, {}, ["A: 1", "B: 2"]],
    ["header_name_too_large", "max_header_name_bytes", 4, {}, ["Name: 1"]],
    ["header_value_too_large", "max_header_value_bytes", 6, {}, ["N: äöü"]],
    ["headers_too_large", "max_headers_bytes", 8, {}, ["A: 123", "B: 456"]],
  ] as const)("FW-POL-01 FW-POL-02 %s: %s is inclusive and in bytes", (code, key, size, fields, lines) => {
    expect(rawCode({ [key]: size }, fields, lines)).toBeNull();
    expect(rawCode({ [key]: size - 1 }, fields, lines)).toBe(code);
  });

  test("FW-POL-01 nothing is parsed for them", () => {
    const untouchable = (): never => {
      throw new Error("the headers were read");
    };
    expect(limitsOf({ max_payload_bytes: 1 }).raw(sampleEnvelope({ readHeaders: untouchable }), null)?.code).toBe("payload_too_large");
    expect(limitsOf({}).raw(sampleEnvelope({ readHeaders: untouchable }), null)).toBeNull();
  });
});

describe("derived limits", () => {
  const labels = { headers: [["Nats-Sinks-Labels", "äö;b;c"]] } as const;

  test.each([
    ["label_count_too_large", "max_label_count", 3, labels],
    ["label_too_large", "max_label_bytes", 4, labels],
    ["labels_too_large", "max_labels_bytes", 6, labels],
    ["mission_metadata_too_large", "max_mission_metadata_bytes", 12, { known: { missionMetadata: { a: "ää" } } }],
    [
      "standard_metadata_too_large",
      "max_standard_metadata_bytes",
      Buffer.byteLength(sampleEnvelope({ subject: "events.ä" }).metadataJsonText()),
      { subject: "events.ä" },
    ],
  ] as const)("FW-POL-01 FW-POL-02 %s: %s is inclusive and in bytes", (code, key, size, fields) => {
    expect(derivedCode({ [key]: size }, fields)).toBeNull();
    expect(derivedCode({ [key]: size - 1 }, fields)).toBe(code);
  });

  test.each([
    ["JSON", '{"a":"ä"}'],
    ["text", "plain ä \u0001"],
    ["bytes", new Uint8Array(5000).fill(0xff)],
    ["nothing", ""],
  ])("FW-POL-02 normalized_record_too_large: the body in its JSON form and the snapshot, to the byte, for %s", (_, data) => {
    const envelope = sampleEnvelope({ data });
    const size = Buffer.byteLength(encodeJson(envelope.payloadForJsonStorage().value)) + Buffer.byteLength(envelope.metadataJsonText());
    expect(derivedCode({ max_normalized_record_bytes: size }, { data })).toBeNull();
    expect(derivedCode({ max_normalized_record_bytes: size - 1 }, { data })).toBe("normalized_record_too_large");
  });
});

describe("a rejection", () => {
  test("FW-POL-04 FW-ENV-12 is permanent, names the message and the limit, and shows nothing that the message holds", () => {
    const error = limitsOf({ max_payload_bytes: 3 }).raw(sampleEnvelope({ data: "hunter2" }), null);
    expect(isErrorKind(error, "SizePolicyViolationError") && isErrorKind(error, "PermanentSinkError")).toBe(true);
    expect(error?.message).toBe('7 is over size_policy.max_payload_bytes, which is 3 (subject "events.a", stream EVENTS, sequence 42)');
  });
});

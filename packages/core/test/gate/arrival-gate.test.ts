import { expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { parseHeaderBlock } from "../../src/envelope/header-block.js";
import { isErrorKind } from "../../src/error/errors.js";
import { type ArrivalGate, compileArrivalGate } from "../../src/gate/arrival-gate.js";
import { silentTelemetry } from "../../src/telemetry/port.js";
import { configurationWith } from "../config/faults-of.js";
import { sampleEnvelope } from "../envelope/sample-envelope.js";

function gateOf(sizePolicy: Record<string, unknown>): ArrivalGate {
  const gate = compileArrivalGate(
    validateConfiguration(configurationWith({ size_policy: { enabled: true, ...sizePolicy } })),
    silentTelemetry,
  );
  if (gate === null) throw new Error("no gate");
  return gate;
}

const malformed = Buffer.from("NATS/1.0\r\nBad Name: x\r\n\r\n");
const fields = { readHeaders: () => parseHeaderBlock(malformed) };

test("FW-RUN-10 there is no gate at all while no policy asks for one", () => {
  expect(compileArrivalGate(validateConfiguration(configurationWith()), silentTelemetry)).toBeNull();
});

test("FW-RUN-10 raw sizes come first, then what the headers hold, then what is derived from them", () => {
  expect(gateOf({ max_payload_bytes: 1 })(sampleEnvelope(fields), malformed)?.code).toBe("payload_too_large");
  expect(gateOf({ max_header_count: 1, max_standard_metadata_bytes: 1 })(sampleEnvelope(fields), malformed)?.code).toBe(
    "headers_malformed",
  );
  expect(gateOf({ max_standard_metadata_bytes: 1 })(sampleEnvelope(), null)?.code).toBe("standard_metadata_too_large");
  expect(gateOf({})(sampleEnvelope(), null)).toBeNull();
});

test("FW-POL-01 without the bytes of the block the parsed headers are measured", () => {
  const headers = [["Name", "value"]] as const;
  expect(gateOf({ max_header_value_bytes: 4 })(sampleEnvelope({ headers }), undefined)?.code).toBe("header_value_too_large");
  expect(gateOf({ max_header_value_bytes: 5 })(sampleEnvelope({ headers }), undefined)).toBeNull();
});

test("FW-RUN-10 a gate that fails by itself rejects nothing for good: the message is tried again", () => {
  const broken = {
    ...sampleEnvelope(),
    get data(): never {
      throw new Error("hunter2");
    },
  } as never;
  const error = gateOf({})(broken, null);
  expect([isErrorKind(error, "TemporarySinkError"), error?.code]).toEqual([true, "gate_failed"]);
  expect(error?.message).not.toContain("hunter2");
});

import { describe, expect, test } from "vitest";
import { TemporarySinkError, ValidationError } from "../../src/error/errors.js";
import { type Handler, runHandler } from "../../src/write-map/handler.js";
import { sampleEnvelope } from "../envelope/sample-envelope.js";

const envelope = sampleEnvelope();
const failing =
  (error: unknown): Handler<string> =>
  () => {
    throw error;
  };

describe("FW-MAP-08 handlers", () => {
  const results: readonly (readonly [Handler<string>, readonly string[]])[] = [
    [() => "one", ["one"]],
    [() => ["one", "two"], ["one", "two"]],
    [() => [], []],
    [() => undefined, []],
    [() => null, []],
    [async () => "later", ["later"]],
  ];

  test.each(results)("FW-MAP-08 one payload, several or none: %s", async (handler, payloads) => {
    expect(await runHandler(handler, envelope)).toEqual(payloads);
  });

  test("FW-MAP-08 a throw that is not a SinkError is permanent for the message and hides its text", async () => {
    const cause = new TypeError("kg of secret-value");
    const error = await runHandler(failing(cause), envelope).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "PermanentSinkError", code: "handler_failed", cause });
    expect((error as Error).message).toBe('the handler threw TypeError (subject "events.a", stream EVENTS, sequence 42)');
    expect(await runHandler(failing("text"), envelope).catch((thrown: unknown) => thrown)).toMatchObject({ code: "handler_failed" });
  });

  test("FW-MAP-08 a SinkError passes as it is, thrown or rejected", async () => {
    const temporary = new TemporarySinkError("later");
    await expect(runHandler(failing(temporary), envelope)).rejects.toBe(temporary);
    const invalid = new ValidationError("no");
    await expect(runHandler(async () => Promise.reject(invalid), envelope)).rejects.toBe(invalid);
  });
});

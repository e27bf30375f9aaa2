import { describe, expect, test } from "vitest";
import { jsonLogLine, type LogEvent, maximumLine, maximumValue, textLogLine } from "../src/telemetry/log-line.js";
import { createLogTelemetry } from "../src/telemetry/log-telemetry.js";

const event = (fields: LogEvent["fields"], name = "batch_written"): LogEvent => ({ time: new Date(0), level: "info", event: name, fields });

describe("a text log line", () => {
  test("FW-OBS-04 holds time, level, event and fields", () => {
    expect(textLogLine(event({ stream: "EVENTS", sequence: 12n, count: 3, ok: true, none: null }))).toBe(
      "1970-01-01T00:00:00.000Z info  batch_written stream=EVENTS sequence=12 count=3 ok=true none=null",
    );
  });

  test("FW-OBS-04 quotes what could be taken for two fields, and escapes controls in names and values", () => {
    expect(textLogLine(event({ reason: "a b", pair: "x=y", quote: 'say "no"', empty: "", "na\nme": "v\r\n" }))).toBe(
      '1970-01-01T00:00:00.000Z info  batch_written reason="a b" pair="x=y" quote="say \\"no\\"" empty="" na\\nme=v\\r\\n',
    );
  });

  test("FW-OBS-04 is one line of bounded length, whatever it is given", () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field_${index}`, "x\n".repeat(5000)]));
    const line = textLogLine(event(fields, "y\n".repeat(5000)));
    expect(line).not.toContain("\n");
    expect(line.length).toBeLessThan(maximumLine + 20);
    expect(textLogLine(event({ long: "z".repeat(maximumValue + 5) }))).toContain("…(+5)");
  });

  test("FW-OBS-04 the login of a URL does not appear", () => {
    expect(textLogLine(event({ url: "nats://bob:hunter2@host" }))).not.toContain("hunter2");
  });
});

describe("a JSON log line", () => {
  test("FW-OBS-04 is one object with time, level, event and fields", () => {
    const line = jsonLogLine(event({ stream: "EVENTS", sequence: 12n, large: 9007199254740993n, level: "x", odd: Number.NaN }));
    expect(line).toContain('"large":9007199254740993');
    expect(JSON.parse(line)).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "info",
      event: "batch_written",
      stream: "EVENTS",
      sequence: 12,
      large: Number(9007199254740993n),
      field_level: "x",
      odd: "NaN",
    });
  });

  test("FW-OBS-04 stays one bounded line and counts what it leaves out", () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field_${index}`, "\n".repeat(5000)]));
    const line = jsonLogLine(event({ ...fields, url: "nats://bob:hunter2@host" }));
    expect(line).not.toContain("\n");
    expect(line.length).toBeLessThanOrEqual(maximumLine);
    expect(JSON.parse(line).omitted).toBeGreaterThan(90);
    expect(line).not.toContain("hunter2");
  });
});

describe("the log port", () => {
  const lines = (level: "warn" | "debug", format: "text" | "json" = "text") => {
    const kept: string[] = [];
    return { kept, telemetry: createLogTelemetry({ level, format, nowNs: () => 0n, writeLine: (line) => void kept.push(line) }) };
  };

  test("FW-OBS-04 keeps events of the configured level and above", () => {
    const { kept, telemetry } = lines("warn");
    telemetry.log("error", "a");
    telemetry.log("warn", "b");
    telemetry.log("info", "c");
    expect(kept.map((line) => line.split(/ +/)[2])).toEqual(["a", "b"]);
    expect([telemetry.enabled("warn"), telemetry.enabled("info")]).toEqual([true, false]);
  });

  test("FW-OBS-04 writes JSON when asked", () => {
    const { kept, telemetry } = lines("debug", "json");
    telemetry.log("debug", "a", { n: 1 });
    expect(JSON.parse(kept[0] ?? "")).toMatchObject({ level: "debug", event: "a", n: 1 });
  });

  test("FW-OBS-06 a log that cannot be written disturbs nobody", () => {
    const telemetry = createLogTelemetry({
      level: "info",
      format: "text",
      nowNs: () => 0n,
      writeLine() {
        throw new Error("EPIPE");
      },
    });
    expect(() => telemetry.log("info", "a")).not.toThrow();
  });
});

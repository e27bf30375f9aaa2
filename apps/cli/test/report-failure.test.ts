import { ConfigurationError, SinksError } from "@sinks/core";
import { describe, expect, test } from "vitest";
import { NotFoundError } from "../src/not-found-error.js";
import { reportFailure } from "../src/output/report-failure.js";
import { UsageError } from "../src/usage-error.js";
import { recordingHost } from "./support/recording-host.js";

function reported(error: unknown, format: "text" | "json" = "text", environment: Record<string, string> = {}) {
  const host = recordingHost({ environment });
  const exitCode = reportFailure(error, host, format);
  expect(host.stdout.text()).toBe("");
  return { exitCode, stderr: host.stderr.text() };
}

describe("a failure", () => {
  test.each([
    ["usage", new UsageError("x"), 2],
    ["configuration", new ConfigurationError("x"), 2],
    ["not found", new NotFoundError("x"), 4],
    ["anything at run time", new SinksError("x", { code: "connection_failed" }), 1],
  ])("FW-CLI-02 of %s has its exit code and one line", (_, error, exitCode) => {
    expect(reported(error)).toEqual({ exitCode, stderr: "sinks: x\n" });
  });

  test("FW-CFG-03 with several lines is several lines of ours", () => {
    expect(reported(new ConfigurationError("a.b: first\nc.d: second")).stderr).toBe("sinks: a.b: first\nsinks: c.d: second\n");
  });

  test("FW-CLI-04 cannot carry a control or a login to the terminal", () => {
    const { stderr } = reported(new SinksError("at nats://bob:hunter2@host \u001b[31m"));
    expect(stderr).toBe("sinks: at nats://[redacted]@host \\u001b[31m\n");
  });

  test("FW-CLI-04 as JSON is one document on one line", () => {
    const { exitCode, stderr } = reported(new SinksError("a\tb", { code: "connection_failed" }), "json");
    expect([exitCode, stderr.split("\n").length]).toEqual([1, 2]);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "connection_failed",
        exit_code: 1,
        problems: [{ path: null, message: "a\\tb", remedy: null, code: "connection_failed" }],
      },
    });
  });
});

describe("an internal error", () => {
  test("FW-CLI-02 is one line without its stack, and says how to see it", () => {
    const { exitCode, stderr } = reported(new TypeError("x is not a function"));
    expect([exitCode, stderr]).toEqual([1, "sinks: internal error: TypeError: x is not a function; set SINKS_DEBUG=1 to see where\n"]);
    expect(reported("text", "json").stderr).toMatch(/^sinks: internal error: text; [^\n]*\n$/);
  });

  test("FW-CLI-02 shows its stack under SINKS_DEBUG=1, logins still hidden", () => {
    const { stderr } = reported(new TypeError("at nats://bob:hunter2@host"), "text", { SINKS_DEBUG: "1" });
    expect(stderr).toMatch(/^\s+at /m);
    expect(stderr).not.toContain("hunter2");
  });
});

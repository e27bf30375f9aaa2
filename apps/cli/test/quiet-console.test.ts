import { expect, test } from "vitest";
import { quietConsole } from "../src/quiet-console.js";
import { recordingHost } from "./support/recording-host.js";

const names = ["debug", "error", "info", "log", "warn"] as const;

function spoken(environment: Record<string, string>): string {
  const host = recordingHost({ environment });
  const console = Object.fromEntries(names.map((name) => [name, () => expect.fail("it printed by itself")])) as unknown as Pick<
    typeof globalThis.console,
    (typeof names)[number]
  >;
  quietConsole(console, host);
  for (const name of names) console[name]("reader closed", new Error("at nats://user:hunter2@host"));
  expect(host.stdout.text()).toBe("");
  return host.stderr.text();
}

test("FW-CLI-04 what a library prints is neither a result nor a diagnosis", () => {
  expect(spoken({})).toBe("");
});

test("FW-CLI-04 with SINKS_DEBUG=1 it is one line each on stderr, without a login", () => {
  const lines = spoken({ SINKS_DEBUG: "1" }).trimEnd().split("\n");
  expect(lines).toHaveLength(names.length);
  for (const line of lines) expect(line).toMatch(/^library: reader closed Error: at nats:\/\/\[redacted\]@host/);
});

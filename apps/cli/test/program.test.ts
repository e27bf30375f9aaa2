import { describe, expect, test } from "vitest";
import { main } from "../src/main.js";
import { recordingHost } from "./support/recording-host.js";

const commands = [
  "run",
  "validate",
  "config show",
  "test-sink",
  "connectors list",
  "connectors show",
  "schema",
  "init",
  "dlq list",
  "dlq show",
];

async function invoke(...commandLine: string[]) {
  const host = recordingHost();
  const exitCode = await main(commandLine, host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

describe("help", () => {
  test.each(commands)("FW-CLI-01 `sinks %s --help` shows an example on stdout", async (name) => {
    const words = name.split(" ");
    const { exitCode, stdout, stderr } = await invoke(...words, "--help");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`  $ sinks ${words.join(" ")}`);
  });

  test.each(["run", "validate", "config show", "test-sink", "dlq list", "dlq show"])(
    "FW-CLI-01 `sinks %s` takes its configuration as argument, by -c, with --set, and a format",
    async (name) => {
      const { stdout } = await invoke(...name.split(" "), "--help");
      for (const part of ["[config]", "-c, --config <file>", "SINKS_CONFIG", "--set <section.key=value>", "--format <format>"])
        expect(stdout).toContain(part);
    },
  );

  test("FW-CLI-01 `--help` lists every command, `--version` prints the version", async () => {
    const { exitCode, stdout } = await invoke("--help");
    expect(exitCode).toBe(0);
    for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name.split(" ")[0]}\\b`, "m"));
    expect(await invoke("--version")).toEqual({ exitCode: 0, stdout: "1.2.3\n", stderr: "" });
  });
});

describe("wrong command lines", () => {
  test.each([
    ["an unknown command", ["rum"], /unknown command 'rum'.*sinks --help/],
    ["an unknown option", ["run", "--onec"], /unknown option '--onec'.*--once/],
    ["a format that is none", ["validate", "--format", "xml"], /Allowed choices are text, json/],
    ["a time that is none", ["run", "--once", "--timeout", "soon"], /must be a number above 0/],
    ["a limit below 1", ["dlq", "list", "--limit", "0"], /must be an integer from 1/],
    ["a missing name", ["connectors", "show"], /missing required argument 'name'/],
    ["too many arguments", ["validate", "a", "b"], /too many arguments/],
    ["no configuration", ["validate"], /no configuration; give a file/],
    ["two configurations", ["run", "a.yaml", "-c", "b.yaml"], /given twice/],
    ["a timeout without --once", ["run", "a.yaml", "--timeout", "5"], /--timeout goes with --once/],
    ["no sequence", ["dlq", "show"], /no sequence/],
    ["a sequence that is none", ["dlq", "show", "a.yaml", "twelve"], /must be an integer from 1/],
  ])("FW-CLI-02 %s: exit 2 and one line on stderr", async (_, commandLine, expected) => {
    const { exitCode, stdout, stderr } = await invoke(...commandLine);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(expected);
    expect(stderr).toMatch(/^sinks: [^\n]+\n$/);
  });

  test("FW-CLI-02 no command at all: exit 2 and the help on stderr", async () => {
    const { exitCode, stdout, stderr } = await invoke();
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: sinks");
  });

  test("FW-CLI-04 with --format json the error is one JSON document on stderr", async () => {
    const { exitCode, stdout, stderr } = await invoke("validate", "--format", "json");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage", exit_code: 2, problems: [{ path: null }] } });
  });
});

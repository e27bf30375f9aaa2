import { describe, expect, test } from "vitest";
import { type ConfigurationChoice, chosenFile } from "../src/configuration-choice.js";
import { UsageError } from "../src/usage-error.js";

const nothing: ConfigurationChoice = { positional: undefined, file: undefined, overrides: [], project: undefined };
const host = (environment: Record<string, string> = {}) => ({ environment, workingDirectory: "/work here" });

describe("the configuration a command line means", () => {
  test("FW-CLI-01 it is the first argument, -c, or SINKS_CONFIG, relative to the working directory", () => {
    expect(chosenFile({ ...nothing, positional: "a.yaml" }, host())).toBe("/work here/a.yaml");
    expect(chosenFile({ ...nothing, file: "/b.json" }, host())).toBe("/b.json");
    expect(chosenFile(nothing, host({ SINKS_CONFIG: "c.json" }))).toBe("/work here/c.json");
  });

  test("FW-CLI-01 the command line beats the variable", () => {
    expect(chosenFile({ ...nothing, file: "/b.json" }, host({ SINKS_CONFIG: "/c.json" }))).toBe("/b.json");
    expect(chosenFile({ ...nothing, positional: "/a.json" }, host({ SINKS_CONFIG: "/c.json" }))).toBe("/a.json");
  });

  test("FW-CLI-02 none at all, or two, is a usage error", () => {
    expect(() => chosenFile(nothing, host())).toThrow(UsageError);
    expect(() => chosenFile(nothing, host({ SINKS_CONFIG: "" }))).toThrow(/SINKS_CONFIG/);
    expect(() => chosenFile({ ...nothing, positional: "a", file: "b" }, host())).toThrow(/twice/);
  });
});

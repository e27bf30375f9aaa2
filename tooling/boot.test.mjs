import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manifests, nodeIsRecent, stampOf, taskEnvironment, withoutNpmVariables } from "./boot.mjs";
import { commandsOf } from "./tasks.mjs";
import { entries } from "./tsup.mjs";

describe("the stamp of an installation", () => {
  let root;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "boot test "));
    for (const folder of ["", "packages/core", "tooling"]) {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, folder, "package.json"), "{}");
    }
    writeFileSync(join(root, "pnpm-lock.yaml"), "lock");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  test("is made of the lockfile and every manifest", () => {
    expect(manifests(root)).toEqual(["pnpm-lock.yaml", "package.json", "packages/core/package.json", "tooling/package.json"]);
  });

  test.each(["pnpm-lock.yaml", "package.json", "packages/core/package.json", "tooling/package.json"])("changes with %s", (file) => {
    const before = stampOf(root);
    expect(stampOf(root)).toBe(before);
    writeFileSync(join(root, file), '{"changed":true}');
    expect(stampOf(root)).not.toBe(before);
  });

  test("changes with a new workspace", () => {
    const before = stampOf(root);
    mkdirSync(join(root, "examples/orders"), { recursive: true });
    writeFileSync(join(root, "examples/orders/package.json"), "{}");
    expect(stampOf(root)).not.toBe(before);
  });
});

test("the variables of an outer npm do not reach an inner one, but where packages come from does", () => {
  const environment = {
    npm_config_registry: "r",
    npm_config_cache: "c",
    npm_lifecycle_event: "test",
    npm_config_workspaces: "true",
    HOME: "h",
  };
  expect(withoutNpmVariables(environment)).toEqual({ npm_config_registry: "r", npm_config_cache: "c", HOME: "h" });
});

test("a task finds local commands first and reports to nobody", () => {
  const environment = taskEnvironment({ PATH: "bin" }, "repo");
  expect(environment.PATH.split(delimiter)).toEqual([join("repo", "node_modules", ".bin"), "bin"]);
  expect(environment).toMatchObject({ DO_NOT_TRACK: "1", TURBO_TELEMETRY_DISABLED: "1" });
});

test.each([
  ["20.19.0", true],
  ["20.18.3", false],
  ["18.20.0", false],
  ["24.1.0", true],
])("Node %s is recent enough: %s", (version, expected) => {
  expect(nodeIsRecent(version, "20.19")).toBe(expected);
});

test("an unknown task has no commands, a known one hands its arguments on", () => {
  expect(commandsOf("toString", [])).toBeNull();
  expect(commandsOf("bench", ["--json", "a b"]).at(-1)).toEqual(["node", "tooling/bench/bench.mjs", "--json", "a b"]);
});

test("a package's build entries are its doors and commands", () => {
  const manifest = {
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
    bin: { sinks: "./dist/sinks.js" },
  };
  expect(entries(manifest)).toEqual(["src/index.ts", "src/sinks.ts"]);
});

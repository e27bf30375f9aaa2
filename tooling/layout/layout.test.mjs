import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { arrows } from "./arrows.mjs";
import { connectorFiles } from "./connector-files.mjs";
import { coreMap } from "./core-map.mjs";
import { documentLinks } from "./document-links.mjs";
import { fileNames } from "./file-names.mjs";
import { machinePaths } from "./machine-paths.mjs";
import { project } from "./project.mjs";
import { settlement } from "./settlement.mjs";
import { sourceStyle } from "./source-style.mjs";

const manifests = {
  "packages/core/package.json": { name: "@sinks/core", exports: { ".": "./dist/index.js", "./runtime": "./dist/runtime.js" } },
  "packages/file/package.json": {
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    name: "@sinks/file",
    sinks: { connectors: { file: "./file" } },
    dependencies: { "@sinks/core": "*" },
  },
  "packages/redis/package.json": { name: "@sinks/redis", sinks: { connectors: { redis: "./redis" } } },
  "packages/testing/package.json": { name: "@sinks/testing" },
  "apps/cli/package.json": { name: "@sinks/cli", devDependencies: { "@sinks/file": "*" } },
};

/** A project of the usual packages with these files; a manifest may be replaced. */
function projectOf(files) {
  const all = { ...manifests, ...files };
  return project(Object.entries(all).map(([path, value]) => ({ path, text: typeof value === "string" ? value : JSON.stringify(value) })));
}

function messages(rule, files) {
  return rule(projectOf(files)).map(({ path, line, message }) => `${path}:${line} ${message}`);
}

describe("arrows", () => {
  test.each([
    ["core imports a package", "packages/core/src/runner/runner.ts", `import { file } from "@sinks/file";`],
    ["core loads a package at run time", "packages/core/src/registry/discover.ts", `const found = await import("@sinks/file");`],
    ["core re-exports a package", "packages/core/src/index.ts", `export { eventually } from "@sinks/testing";`],
    ["core uses a type of a package", "packages/core/src/runner/runner.ts", `let file: import("@sinks/file").FileOptions;`],
    ["a connector imports the runtime", "packages/file/src/sink.ts", `import { createRunner } from "@sinks/core/runtime";`],
    ["a connector imports another", "packages/file/src/sink.ts", `import type { RedisOptions } from "@sinks/redis";`],
    ["a connector knows the NATS client", "packages/file/src/sink.ts", `import { connect } from "@nats-io/transport-node";`],
    ["a folder of core besides source knows the NATS client", "packages/core/src/runner/settle.ts", `import "@nats-io/jetstream";`],
    ["testing imports a connector", "packages/testing/src/certify.ts", `import { file } from "@sinks/file";`],
    ["the command imports a connector", "apps/cli/src/run.ts", `import { file } from "@sinks/file";`],
    ["tests of core import testing", "packages/core/test/runner.test.ts", `import { startNats } from "@sinks/testing/services";`],
    ["tests of a connector import another", "packages/file/test/sink.test.ts", `import { redis } from "@sinks/redis";`],
    ["tests of the command import what they do not list", "apps/cli/test/run.test.ts", `import { redis } from "@sinks/redis";`],
    ["a relative import leaves the package", "packages/file/src/sink.ts", `import { secret } from "../../core/src/option/secret.js";`],
  ])("refuses: %s", (_what, path, text) => {
    expect(messages(arrows, { [path]: `\n${text}\n` })).toEqual([expect.stringContaining(`${path}:2 `)]);
  });

  test("refuses a dependency against the arrows", () => {
    const cli = { ...manifests["apps/cli/package.json"], dependencies: { "@sinks/file": "*" } };
    expect(messages(arrows, { "apps/cli/package.json": cli })).toEqual([
      "apps/cli/package.json:1 a program does not depend on @sinks/file",
    ]);
  });

  test("accepts what the design allows", () => {
    const files = {
      "packages/core/src/source/pull.ts": `import { connect } from "@nats-io/transport-node"; import { code } from "../error/codes.js";`,
      "packages/file/src/sink.ts": `import { defineConnector } from "@sinks/core"; import { open } from "node:fs/promises";`,
      "packages/file/test/sink.test.ts": `import { startNats } from "@sinks/testing/services"; import { file } from "../src/index.js";`,
      "packages/testing/src/certify.ts": `import { createRunner } from "@sinks/core/runtime"; import "@nats-io/jetstream";`,
      "apps/cli/src/run.ts": `import { createRunner } from "@sinks/core/runtime"; const found = await import(name);`,
      "apps/cli/test/run.test.ts": `import { file } from "@sinks/file";`,
    };
    expect(messages(arrows, files)).toEqual([]);
  });
});

describe("coreMap", () => {
  test.each([
    ["envelope/envelope.ts", `import { pull } from "../source/pull.js";`, "envelope/ must not know source/"],
    ["error/errors.ts", `import { secret } from "../option/secret.js";`, "error/ must not know option/"],
    ["error/errors.ts", `import { z } from "zod";`, "error/ must not load zod"],
    ["source/pull.ts", `import { verdict } from "../runner/verdict.js";`, "source/ must not know runner/"],
    ["config/load.ts", `import { connect } from "node:net";`, "config/ must not load node:net"],
    ["telemetry/log-port.ts", `import pino from "pino";`, "telemetry/ must not load pino"],
    ["option/secret.ts", `const value = process.env.HOME;`, "core reads no environment of its own; it is handed in"],
    ["route/gate.ts", `setTimeout(() => undefined, 1);`, "the gate is a pure tally and never waits"],
    ["connector/sink.ts", `// Resolves before the ack is sent.`, "connector/ must not mention ack"],
  ])("refuses in %s: %s", (path, text, message) => {
    expect(messages(coreMap, { [`packages/core/src/${path}`]: text })).toEqual([`packages/core/src/${path}:1 ${message}`]);
  });

  test("accepts imports along the map", () => {
    const files = {
      "packages/core/src/runner/runner.ts": `import { pull } from "../source/pull.js"; import { fanOut } from "../route/fan-out.js";`,
      "packages/core/src/error/errors.ts": `import { codes } from "./codes.js";`,
      "packages/core/src/connector/sink.ts": `// Goes back to the sender of the batch.\nimport type { Envelope } from "../envelope/envelope.js";`,
      "packages/core/src/index.ts": `export { codes } from "./error/codes.js";`,
    };
    expect(messages(coreMap, files)).toEqual([]);
  });
});

describe("settlement", () => {
  test.each(["delivery.ack();", "await message.ackAck({ timeout: 1 });", "held.nak(5);", "message.term();", "message.working();"])(
    "refuses elsewhere: %s",
    (text) => {
      expect(messages(settlement, { "packages/core/src/runner/lease.ts": text })).toHaveLength(1);
      expect(messages(settlement, { "packages/core/src/runner/settle.ts": text })).toEqual([]);
    },
  );

  test("refuses a word of the ack protocol outside settle and source", () => {
    const text = `connection.publish(reply, encode("+ACK")); connection.publish(reply, \`-NAK \${delay}\`);`;
    expect(messages(settlement, { "packages/core/src/runner/dead-letter.ts": text })).toHaveLength(2);
    expect(messages(settlement, { "packages/core/src/source/ack-subject.ts": text })).toEqual([]);
  });
});

describe("fileNames", () => {
  test.each([
    "packages/core/src/runner/laneTable.ts",
    "packages/core/src/Runner.ts",
    "docs/guides/First_Steps.md",
    "packages/core/src/writeMap/apply.ts",
  ])("refuses a name that is not kebab-case: %s", (path) => {
    expect(messages(fileNames, { [path]: "" })).toEqual([expect.stringContaining("is not kebab-case")]);
  });

  test.each(["packages/core/src/utils.ts", "packages/file/src/common/path.ts", "apps/cli/src/types.ts", "tooling/helpers.mjs"])(
    "refuses a name that says nothing: %s",
    (path) => {
      expect(messages(fileNames, { [path]: "" })).toEqual([expect.stringContaining("does not say what is in it")]);
    },
  );

  test("refuses a file of more than 400 lines", () => {
    const path = "packages/core/src/runner/runner.ts";
    expect(messages(fileNames, { [path]: "x;\n".repeat(401) })).toEqual([`${path}:401 401 lines; a file has at most 400`]);
    expect(messages(fileNames, { [path]: "x;\n".repeat(400) })).toEqual([]);
  });

  test("accepts well-known and dotted names", () => {
    const paths = [
      "packages/core/README.md",
      "packages/core/test/lanes.integration.test.ts",
      "packages/core/tsup.config.ts",
      "LICENSE",
      ".github/workflows/check.yml",
    ];
    expect(messages(fileNames, Object.fromEntries(paths.map((path) => [path, ""])))).toEqual([]);
  });
});

test("connectorFiles names each file that a connector lacks", () => {
  const names = ["index", "connector", "options", "sink", "errors"];
  const complete = (name) => Object.fromEntries(names.map((file) => [`packages/${name}/src/${file}.ts`, ""]));
  expect(messages(connectorFiles, { ...complete("file"), ...complete("redis") })).toEqual([]);
  for (const missing of names) {
    const { [`packages/file/src/${missing}.ts`]: _absent, ...rest } = complete("file");
    expect(messages(connectorFiles, { ...rest, ...complete("redis") })).toEqual([`packages/file/src:1 a connector has ${missing}.ts`]);
  }
});

describe("sourceStyle", () => {
  test.each([
    ["packages/core/src/a.ts", "export default 1;", "no default exports"],
    ["packages/core/src/a.ts", "export default function run() {}", "no default exports"],
    ["packages/core/src/a.ts", `export { a as default } from "./b.js";`, "no default exports"],
    ["packages/file/src/sink.ts", `console.warn("x");`, "no console in libraries"],
    ["packages/core/src/a.ts", "export function store(msg: string) { return msg; }", `"msg" is not a whole word`],
    ["packages/core/src/a.ts", "const cfg = 1;", `"cfg" is not a whole word`],
    ["packages/file/src/index.ts", "export const a = 1;", "a door only re-exports, by name"],
    ["packages/file/src/index.ts", `export * from "./sink.js";`, "a door only re-exports, by name"],
    ["packages/core/src/runtime.ts", `import "./runner/runner.js";`, "a door only re-exports, by name"],
  ])("refuses in %s: %s", (path, text, message) => {
    expect(messages(sourceStyle, { [path]: text })).toEqual([`${path}:1 ${message}`]);
  });

  test("accepts doors, comments about what is forbidden, and names of others", () => {
    const files = {
      "packages/file/src/index.ts": `/** The connector. */\nexport { file } from "./connector.js";\nexport type { FileOptions } from "./options.js";`,
      "packages/core/src/source/consumer.ts":
        "// console.log is not used here\nexport const limit = (info) => info.config.max_msgs + info.opts;",
      "apps/cli/src/main.ts": `console.error("x");`,
    };
    expect(messages(sourceStyle, files)).toEqual([]);
  });
});

test("machinePaths finds places of one machine, and leaves relative and public ones alone", () => {
  const bad = [
    join("..", "shared", "design.md"),
    ["", "work", "main"].join("/"),
    ["", "root", "x"].join("/"),
    ["", "home", "ada", "x"].join("/"),
  ];
  for (const place of bad) expect(messages(machinePaths, { "docs/guide.md": `\nsee ${place}` })).toHaveLength(1);
  expect(messages(machinePaths, { "docs/guide.md": "https://example.com/work/x ./work/ /var/lib ../shared-state/x" })).toEqual([]);
});

test("documentLinks finds a link to a file or folder that is not there", () => {
  const text = "[a](docs/a.md) [b](docs/b.md#part)\n[c](docs) [d](https://example.com/x) [e](#here) `[f](x)`";
  expect(messages(documentLinks, { "README.md": text, "docs/a.md": "[up](../README.md)" })).toEqual([
    "README.md:1 links to docs/b.md, which is not there",
  ]);
});

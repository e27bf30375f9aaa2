import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { invokeIn } from "./support/invoke.js";
import { makeProject, type Project } from "./support/project.js";
import { probeSettings } from "./support/settings.js";

let project: Project;
beforeAll(async () => {
  project = await makeProject();
});
afterAll(() => project[Symbol.asyncDispose]());

async function documentOf(...commandLine: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await invokeIn(project, [...commandLine, "--format", "json"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

describe("sinks connectors", () => {
  test("FW-REG-04, FW-REG-06 list has the built-in ones, with the package to add, and those of the project", async () => {
    const list = (await documentOf("connectors", "list")) as { name: string }[];
    expect(list.find(({ name }) => name === "file")).toMatchObject({ package: "@sinks/file", installed: true, built_in: true });
    expect(list.find(({ name }) => name === "redis")).toEqual({
      name: "redis",
      package: "@sinks/redis",
      version: null,
      installed: false,
      built_in: true,
      planned: true,
    });
    expect(list.find(({ name }) => name === "probe")).toEqual({
      name: "probe",
      package: "sinks-probe",
      version: "2.3.4",
      installed: true,
      built_in: false,
      planned: false,
    });
    const { stdout } = await invokeIn(project, ["connectors", "list"]);
    expect(stdout).toMatch(/^redis +built in +@sinks\/redis +planned, not part of this release$/m);
  });

  test("FW-CLI-01 show describes a connector and its options", async () => {
    const shown = (await documentOf("connectors", "show", "file")) as { options: { key: string }[] };
    expect(shown).toMatchObject({ name: "file", package: "@sinks/file", installed: true, remedy: null });
    expect(shown.options.find(({ key }) => key === "directory")).toMatchObject({ default: "required" });
    const { stdout } = await invokeIn(project, ["connectors", "show", "file"]);
    expect(stdout).toMatch(/^directory +required /m);
  });

  test("FW-REG-06 show says of one without a release that it is planned, and no command to install it", async () => {
    expect(await documentOf("connectors", "show", "redis")).toMatchObject({
      installed: false,
      options: null,
      planned: true,
      remedy: "it is planned and not part of this release",
    });
  });

  test("FW-REG-04 show imports a third party's package only when a configuration allows it", async () => {
    const closed = await documentOf("connectors", "show", "probe");
    expect(closed).toMatchObject({ name: "probe", package: "sinks-probe", summary: null, options: null });
    const file = await project.file("probe.json", probeSettings());
    expect(await documentOf("connectors", "show", "probe", "-c", file)).toMatchObject({
      summary: "Does what a test asks of it.",
      remedy: null,
    });
  });

  test.each([
    ["connectors", "show", "nothing"],
    ["schema", "nothing"],
    ["init", "nothing"],
  ])("FW-CLI-02 an unknown name is not found: `sinks %s %s`", async (...words) => {
    const { exitCode, stdout, stderr } = await invokeIn(
      project,
      words.filter((word) => word !== undefined),
    );
    expect([exitCode, stdout]).toEqual([4, ""]);
    expect(stderr).toMatch(/^sinks: no connector has the name "nothing"; /);
  });

  test("FW-CLI-02 a project that is none is exit 2", async () => {
    const { exitCode, stderr } = await invokeIn(project, ["connectors", "list", "--project", "absent"]);
    expect([exitCode, stderr.split("\n")]).toEqual([2, [expect.stringMatching(/^sinks: --project: /), ""]]);
  });
});

describe("sinks schema", () => {
  test("FW-REG-02 prints the JSON Schema of the whole configuration with the connectors that can be used", async () => {
    const schema = (await documentOf("schema")) as {
      properties: Record<string, { oneOf?: { properties: { type: { const: string } } }[] }>;
    };
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(["nats", "delivery", "dead_letter", "sink"]));
    expect(schema.properties["sink"]?.oneOf?.map((option) => option.properties.type.const)).toEqual(["file", "postgres"]);
  });

  test("FW-REG-02 prints the JSON Schema of one connector's options", async () => {
    expect(await documentOf("schema", "file")).toMatchObject({ title: "file", required: ["directory"] });
  });

  test("FW-REG-06 of a connector without a release says so, and names no key of a configuration", async () => {
    const { exitCode, stderr } = await invokeIn(project, ["schema", "redis"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sinks: the connector redis is planned and not part of this release; [^\n]+\n$/);
  });
});

describe("sinks init", () => {
  test("FW-CLI-01 prints a commented starter that is valid", async () => {
    const { exitCode, stdout } = await invokeIn(project, ["init"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ *#/m);
    await project.file("starter.yaml", stdout);
    expect(await invokeIn(project, ["validate", "starter.yaml"])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("FW-CLI-01 writes a file, never over one that is there unless forced", async () => {
    const target = path.join(project.folder, "mine.yaml");
    expect((await invokeIn(project, ["init", "file", "--output", "mine.yaml"])).exitCode).toBe(0);
    const starter = await readFile(target, "utf8");
    await project.file("mine.yaml", "precious");
    const again = await invokeIn(project, ["init", "file", "--output", "mine.yaml"]);
    expect([again.exitCode, again.stderr.split("\n").length, await readFile(target, "utf8")]).toEqual([2, 2, "precious"]);
    expect(again.stderr).toContain("--force");
    expect((await invokeIn(project, ["init", "file", "-o", "mine.yaml", "--force"])).exitCode).toBe(0);
    expect(await readFile(target, "utf8")).toBe(starter);
  });

  test("FW-CLI-02 a folder that does not exist is one line and exit 2", async () => {
    const { exitCode, stderr } = await invokeIn(project, ["init", "file", "--output", "absent/mine.yaml"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sinks: .*make the folder first\n$/);
  });

  test("FW-CLI-04 with --format json tells what was written", async () => {
    expect(await documentOf("init", "file", "--output", "other.yaml")).toEqual({ connector: "file", output: "other.yaml" });
    expect(await documentOf("init")).toMatchObject({ connector: "file", output: null, configuration: expect.stringContaining("nats:") });
  });
});

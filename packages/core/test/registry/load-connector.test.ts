import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { faultLine } from "../../src/config/faults.js";
import { isErrorKind } from "../../src/error/errors.js";
import { discoverConnectors } from "../../src/registry/discover.js";
import { loadConnector } from "../../src/registry/load-connector.js";
import { faultsOf } from "../config/faults-of.js";
import { connectorModule, type FakeProject, fakeProject } from "./fake-project.js";

const closed = { enabled: false, allowed_sinks: [], require_production_ready: false };
const open = (...names: string[]) => ({ enabled: true, allowed_sinks: names, require_production_ready: false });

declare global {
  var importedConnectors: readonly string[] | undefined;
}

beforeEach(() => {
  globalThis.importedConnectors = [];
});

const searchIn = (project: FakeProject, workingDirectory = "app") => ({
  workingDirectory: path.join(project.folder, workingDirectory),
  command: pathToFileURL(path.join(project.folder, "global/node_modules/@sinks/cli/dist/sinks.js")).href,
});

const lines = async (call: () => Promise<unknown>) => (await faultsOf(call)).map(faultLine);

async function failure(call: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await call();
  } catch (error) {
    if (isErrorKind(error, "ConfigurationError")) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("it did not fail");
}

test("FW-REG-04 a built-in connector is taken from the project, from a folder below it too", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app" });
  mkdirSync(path.join(project.folder, "app/deep/er"), { recursive: true });
  project.offer("app/node_modules/@sinks/file", "@sinks/file", { file: "./file" });
  expect((await loadConnector("file", closed, searchIn(project, "app/deep/er"))).name).toBe("file");
});

test("FW-REG-04 else it is taken from beside the command, so that a global install works", async () => {
  using project = fakeProject();
  project.offer("global/node_modules/@sinks/file", "@sinks/file", { file: "./file" });
  mkdirSync(path.join(project.folder, "app"));
  expect((await loadConnector("file", closed, searchIn(project))).name).toBe("file");
});

test("FW-REG-04 --project names the project; a folder without package.json is refused", async () => {
  using project = fakeProject();
  project.write("other/package.json", { name: "other" });
  project.offer("other/node_modules/@sinks/file", "@sinks/file", { file: "./file" });
  expect((await loadConnector("file", closed, { ...searchIn(project, "."), project: "other" })).name).toBe("file");
  expect(await lines(() => loadConnector("file", closed, { ...searchIn(project, "."), project: "absent" }))).toEqual([
    "--project: this folder has no package.json that can be read; name the folder of a project",
  ]);
});

test.each([
  ["redis", "@sinks/redis"],
  ["mongo", "@sinks/mongo"],
])(
  "FW-REG-06 the connector %s without a release is one line that names its package, until that is installed",
  async (name, packageName) => {
    using project = fakeProject();
    project.write("app/package.json", { name: "app" });
    expect(await failure(() => loadConnector(name, closed, searchIn(project)))).toEqual({
      code: "not_supported",
      message: `sink.type: the connector ${name} is planned and not part of this release; it will be ${packageName}; \`sinks connectors list\` shows those that can be used`,
    });
    project.offer(`app/node_modules/${packageName}`, packageName, { [name]: `./${name}` });
    expect((await loadConnector(name, closed, searchIn(project))).name).toBe(name);
  },
);

test("FW-REG-06 a released connector that is not installed is one line that names its package", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app" });
  expect(await failure(() => loadConnector("file", closed, searchIn(project)))).toEqual({
    code: "connector_not_installed",
    message: "sink.type: the connector file is not installed; add its package: npm install @sinks/file",
  });
});

test("FW-REG-04 a third party's connector is imported only when it is a direct dependency, enabled and allowed", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app", dependencies: { "acme-sinks": "1" } });
  project.offer("app/node_modules/acme-sinks", "acme-sinks", { acme: "./acme" });
  project.offer("app/node_modules/hidden-sinks", "hidden-sinks", { hidden: "./hidden" });
  const search = searchIn(project);
  expect(await lines(() => loadConnector("acme", closed, search))).toEqual([
    "plugins.enabled: the connector is of a third party, package acme-sinks; set plugins.enabled to true and name the connector in plugins.allowed_sinks",
  ]);
  expect(await lines(() => loadConnector("acme", { ...open("acme"), enabled: false }, search))).toHaveLength(1);
  expect(await lines(() => loadConnector("acme", open("other"), search))).toEqual([
    "plugins.allowed_sinks: does not allow the connector of package acme-sinks; add the connector's name",
  ]);
  expect(await failure(() => loadConnector("hidden", open("hidden"), search))).toEqual({
    code: "connector_not_installed",
    message: "sink.type: no direct dependency of the project offers this connector; add its package to the project",
  });
  expect(globalThis.importedConnectors).toEqual([]);
  expect((await loadConnector("acme", open("acme"), search)).name).toBe("acme");
  expect(globalThis.importedConnectors).toEqual(["acme"]);
});

test("FW-REG-04 discovery reads JSON only: it lists offers without importing anything", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app", devDependencies: { "acme-sinks": "1", broken: "1", absent: "1", "../escape": "1" } });
  project.offer("app/node_modules/acme-sinks", "acme-sinks", { acme: "./acme", "acme-two": "./acme" });
  project.write("app/node_modules/broken/package.json", "{ not json");
  project.offer("app/escape", "escape", { escape: "./escape" });
  project.offer("app/node_modules/@sinks/file", "@sinks/file", { file: "./file" });
  const { connectors, notices } = await discoverConnectors(searchIn(project));
  expect(connectors.map(({ name, packageName, builtIn, manifest }) => [name, packageName, builtIn, manifest?.version ?? null])).toEqual([
    ["file", "@sinks/file", true, "1.2.3"],
    ["postgres", "@sinks/postgres", true, null],
    ["redis", "@sinks/redis", true, null],
    ["mongo", "@sinks/mongo", true, null],
    ["acme", "acme-sinks", false, "1.2.3"],
    ["acme-two", "acme-sinks", false, "1.2.3"],
  ]);
  expect(notices).toEqual([]);
  expect(globalThis.importedConnectors).toEqual([]);
});

test("FW-REG-03 FW-REG-04 a third party cannot take a built-in name, and two packages cannot offer one name", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app", dependencies: { one: "1", two: "1", thief: "1" } });
  for (const name of ["one", "two"]) project.offer(`app/node_modules/${name}`, name, { shared: "./shared" });
  project.offer("app/node_modules/thief", "thief", { file: "./file" });
  const search = searchIn(project);
  expect((await discoverConnectors(search)).notices).toEqual([
    "thief: offers a connector named file, which belongs to @sinks/file; the offer is refused",
    "one and two: both offer a connector named shared; remove all but one",
  ]);
  expect(await lines(() => loadConnector("shared", open("shared"), search))).toEqual([
    "sink.type: the packages one and two both offer this connector; remove all but one of them from the project",
  ]);
  expect((await failure(() => loadConnector("file", open("file"), search))).code).toBe("connector_not_installed");
  expect(globalThis.importedConnectors).toEqual([]);
});

test("FW-REG-03 an unknown name gets the nearest known one, the name itself is not repeated", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app", dependencies: { "acme-sinks": "1" } });
  project.offer("app/node_modules/acme-sinks", "acme-sinks", { acme: "./acme" });
  const search = searchIn(project);
  expect(await lines(() => loadConnector("postgress", closed, search))).toEqual([
    'sink.type: no connector has this name; did you mean "postgres"?',
  ]);
  expect(await lines(() => loadConnector("acne", closed, search))).toEqual(['sink.type: no connector has this name; did you mean "acme"?']);
  expect(await lines(() => loadConnector("hunter2-x", closed, search))).toEqual([
    "sink.type: no connector has this name; `sinks connectors list` shows those that can be used",
  ]);
});

const offering = (source: string, sinks: unknown = { connectors: { acme: "./acme" } }, exports: unknown = { ".": "./index.js" }) => {
  const project = fakeProject();
  project.write("app/package.json", { name: "app", dependencies: { "acme-sinks": "1" } });
  project.write("app/node_modules/acme-sinks/package.json", { name: "acme-sinks", version: "1.0.0", type: "module", exports, sinks });
  project.write("app/node_modules/acme-sinks/index.js", source);
  return project;
};

test.each([
  ["a name that differs", connectorModule("other"), "its module must export exactly one connector named acme, but exports none"],
  ["no descriptor", "export const acme = { name: 'acme' };", "its module must export exactly one connector named acme, but exports none"],
  [
    "two of one name",
    `${connectorModule("acme")}export const again = Object.defineProperty({ ...connector }, Symbol.for("sinks.connector"), { value: true });`,
    "but exports several",
  ],
  [
    "another API version",
    connectorModule("acme", { apiVersion: "2" }),
    "the connector is for another API version; this release takes version 1",
  ],
  ["productionReady without evidence", connectorModule("acme", { productionReady: true }), "productionReady needs certification evidence"],
  ["a module that throws", "throw new Error('hunter2');", "cannot be imported; install it again, or another version"],
  ["a missing import", "import 'not-there-at-all';", "cannot be imported (ERR_MODULE_NOT_FOUND)"],
])("FW-REG-03 %s is refused, code connector_invalid", async (_what, source, message) => {
  using project = offering(source);
  const found = await failure(() => loadConnector("acme", open("acme"), searchIn(project)));
  expect(found.code).toBe("connector_invalid");
  expect(found.message).toContain("package acme-sinks: ");
  expect(found.message).toContain(message);
  expect(found.message).not.toContain("hunter2");
  expect(found.message.split("\n")).toHaveLength(1);
});

test("FW-REG-03 the same descriptor under two export names is one descriptor", async () => {
  using project = offering(`${connectorModule("acme")}export { connector as alias };`);
  expect((await loadConnector("acme", open("acme"), searchIn(project))).name).toBe("acme");
});

test("FW-REG-04 an offer may name a subpath of exports, with conditions", async () => {
  using project = offering(
    "throw new Error('the main module must not be imported');",
    { connectors: { acme: "./acme" } },
    { ".": "./index.js", "./acme": { types: "./acme.d.ts", import: "./lib/acme.js" } },
  );
  project.write("app/node_modules/acme-sinks/lib/acme.js", connectorModule("acme"));
  expect((await loadConnector("acme", open("acme"), searchIn(project))).name).toBe("acme");
});

test.each([
  ["leads out of the package", { ".": "./index.js", "./acme": "../../evil.js" }],
  ["leads to nothing for import", { ".": { require: "./index.cjs" } }],
])("FW-REG-05 an export that %s is refused", async (_what, exports) => {
  using project = offering(connectorModule("acme"), undefined, exports);
  project.write("app/evil.js", connectorModule("acme"));
  expect((await failure(() => loadConnector("acme", open("acme"), searchIn(project)))).message).toContain("leads to no file");
  expect(globalThis.importedConnectors).toEqual([]);
});

test.each(["acme", "/etc/passwd", "../evil.js", "https://evil", "./a/../../evil.js", 5])(
  "FW-REG-05 an offer of %j is no offer",
  async (target) => {
    using project = offering(connectorModule("acme"), { connectors: { acme: target } });
    expect((await discoverConnectors(searchIn(project))).connectors.filter(({ builtIn }) => !builtIn)).toEqual([]);
  },
);

test("FW-REG-03 a package of ours that does not offer its connector is named", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app" });
  project.write("app/node_modules/@sinks/file/package.json", { name: "@sinks/file", version: "0.0.1" });
  expect(await failure(() => loadConnector("file", closed, searchIn(project)))).toEqual({
    code: "connector_invalid",
    message: "package @sinks/file: its package.json does not offer the connector file; install a version that does",
  });
});

test("FW-REG-03 require_production_ready refuses a third party's connector that is not, and asks nothing of ours", async () => {
  using project = offering(connectorModule("acme"));
  project.offer("app/node_modules/@sinks/file", "@sinks/file", { file: "./file" });
  const strict = { ...open("acme"), require_production_ready: true };
  expect(await lines(() => loadConnector("acme", strict, searchIn(project)))).toEqual([
    "plugins.require_production_ready: the connector is not declared ready for production; use another one, or set plugins.require_production_ready to false",
  ]);
  expect((await loadConnector("file", strict, searchIn(project))).name).toBe("file");
});

test("FW-REG-03 require_production_ready accepts a connector with evidence", async () => {
  using project = offering(connectorModule("acme", { productionReady: true, certification: ["lifecycle: passed"] }));
  expect((await loadConnector("acme", { ...open("acme"), require_production_ready: true }, searchIn(project))).name).toBe("acme");
});

test("FW-REG-04 a linked dependency is found as an installed one", async () => {
  using project = fakeProject();
  project.write("app/package.json", { name: "app", dependencies: { "acme-sinks": "link:../acme" } });
  project.offer("acme", "acme-sinks", { acme: "." });
  mkdirSync(path.join(project.folder, "app/node_modules"), { recursive: true });
  symlinkSync("../../acme", path.join(project.folder, "app/node_modules/acme-sinks"));
  expect((await loadConnector("acme", open("acme"), searchIn(project))).name).toBe("acme");
});

import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { faultLine } from "../../src/config/faults.js";
import { loadPipeline } from "../../src/registry/load-pipeline.js";
import { configurationWith, faultsOf } from "../config/faults-of.js";
import { fakeProject } from "./fake-project.js";

const zodFile = fileURLToPath(import.meta.resolve("zod"));
const source = `import { z } from ${JSON.stringify(zodFile)};
export const file = Object.defineProperty({ name: "file", apiVersion: "1", summary: "s", status: "production", productionReady: false, documentation: "", certification: [],
  options: z.strictObject({ directory: z.string(), fsync: z.boolean().default(true) }), create() {} }, Symbol.for("sinks.connector"), { value: true });`;

function project() {
  const made = fakeProject();
  made.write("app/package.json", { name: "app" });
  made.offer("app/node_modules/@sinks/file", "@sinks/file", { file: "./file" });
  made.write("app/node_modules/@sinks/file/index.js", source);
  return made;
}

const request = (folder: string, patch: Record<string, unknown>) => ({
  text: JSON.stringify(configurationWith(patch)),
  format: "json" as const,
  environment: {},
  search: { workingDirectory: path.join(folder, "app"), command: path.join(folder, "sinks.js") },
});

test("FW-CFG-03 a pipeline loads with its connector and the sink's options", async () => {
  using made = project();
  const loaded = await loadPipeline(request(made.folder, {}));
  expect([loaded.connector.name, loaded.options, loaded.configuration.sink.type]).toEqual([
    "file",
    { directory: "out", fsync: true },
    "file",
  ]);
});

test("WO-GEN-23 what a connector says of its options stands among the notices, below sink", async () => {
  using made = project();
  const told = source.replace("create() {}", "notices: ({ fsync }) => (fsync ? [] : ['fsync: a crash loses files']), create() {}");
  made.write("app/node_modules/@sinks/file/index.js", told);
  const { notices } = await loadPipeline(request(made.folder, { sink: { fsync: false } }));
  expect(notices).toEqual(["sink.fsync: a crash loses files"]);
});

test("FW-CFG-03 faults of the sections and of the sink come in one error", async () => {
  using made = project();
  const found = await faultsOf(() => loadPipeline(request(made.folder, { delivery: { bach_size: 1 }, sink: { fsnc: true } })));
  expect(found.map(faultLine)).toEqual([
    'delivery.bach_size: unknown key; did you mean "batch_size"?',
    'sink.fsnc: unknown key; did you mean "fsync"?',
  ]);
});

test("FW-REG-06 FW-CFG-03 a connector without a release is told beside the other faults", async () => {
  using made = project();
  const found = await faultsOf(() => loadPipeline(request(made.folder, { delivery: { bach_size: 1 }, sink: { type: "redis" } })));
  expect(found.map(({ path: where, code }) => [where, code])).toEqual([
    ["delivery.bach_size", "configuration_invalid"],
    ["sink.type", "not_supported"],
  ]);
});

test("FW-REG-03 a broken connector is told when nothing else is wrong", async () => {
  using made = project();
  made.write("app/node_modules/@sinks/file/index.js", "export const nothing = 1;");
  await expect(loadPipeline(request(made.folder, {}))).rejects.toMatchObject({ code: "connector_invalid" });
});

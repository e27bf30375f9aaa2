/** What documents show must work: whole configurations pass `sinks validate`, whole programs compile against the built packages, tests that are named exist. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readProject } from "../layout/project.mjs";
import { codeBlocks, isConfiguration, isProgram } from "./code-blocks.mjs";
import { compile } from "./compile.mjs";
import { namedTestFaults } from "./named-tests.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const command = join(root, "apps/cli/dist/sinks.js");
const { files } = readProject(root);
const documents = files.filter(({ path }) => path.endsWith(".md"));
const blocks = documents.flatMap(({ path, text }) => codeBlocks(text).map((block) => ({ ...block, origin: path })));
const configurations = blocks.filter(isConfiguration);
const programs = blocks.filter(isProgram);
const scratch = mkdtempSync(join(tmpdir(), "sinks-documents-"));

/** The workspace whose dependencies a program of a document sees: the one it lies in, else the command, which sees all packages. */
function homeOf({ origin }) {
  const [, workspace = "apps/cli"] = /^((?:packages|apps|examples)\/[^/]+)\//.exec(origin) ?? [];
  return join(root, workspace);
}

function textOf(file) {
  return files.find(({ path }) => path === file)?.text ?? null;
}

function compilePrograms() {
  const homes = [...new Set(programs.map(homeOf))];
  return homes.flatMap((home) =>
    compile(
      programs.filter((program) => homeOf(program) === home),
      home,
      join(root, "tooling/tsconfig.json"),
    ),
  );
}

function validate({ origin, line, language, code }, index) {
  const file = join(scratch, `${index}.${language}`);
  writeFileSync(file, code);
  const { status, stderr } = spawnSync(process.execPath, [command, "validate", file], { cwd: join(root, "apps/cli"), encoding: "utf8" });
  return status === 0 ? [] : [`${origin}:${line} ${stderr.trim().replaceAll("\n", "; ")}`];
}

try {
  const faults = [...configurations.flatMap(validate), ...compilePrograms(), ...namedTestFaults(documents, textOf)];
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(`${configurations.length} configurations and ${programs.length} programs in documents, ${faults.length} faults.\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

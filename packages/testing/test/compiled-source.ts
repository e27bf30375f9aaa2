import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/**
 * Compiles this package's sources into a folder that a plain `node` can import, for tests that must kill a whole
 * process. It stands below node_modules so that dependencies resolve.
 */
export function compileSources(): { folder: string } & Disposable {
  const root = join(import.meta.dirname, "..");
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/sources-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const target = join(folder, name.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(target, ts.transpileModule(readFileSync(join(root, "src", name), "utf8"), { compilerOptions: options }).outputText);
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

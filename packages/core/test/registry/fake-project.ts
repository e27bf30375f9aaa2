import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A folder of packages on disk, removed on dispose. */
export interface FakeProject extends Disposable {
  readonly folder: string;
  /** Writes a file below the folder. */
  write(file: string, content: unknown): void;
  /** Writes a package that offers connectors, each from a module that exports it. */
  offer(packageFolder: string, name: string, connectors: Readonly<Record<string, string>>, extra?: Readonly<Record<string, unknown>>): void;
}

/** Source of a module that exports a connector and counts its imports in a global. */
export function connectorModule(name: string, changes: Readonly<Record<string, unknown>> = {}): string {
  const fields = {
    name,
    apiVersion: "1",
    summary: "Keeps messages.",
    status: "third_party",
    productionReady: false,
    documentation: "",
    certification: [],
    ...changes,
  };
  return `globalThis.importedConnectors = [...(globalThis.importedConnectors ?? []), ${JSON.stringify(name)}];
const connector = { ...${JSON.stringify(fields)}, options: { _zod: { def: { type: "object", shape: {} } } }, create() {} };
Object.defineProperty(connector, Symbol.for("sinks.connector"), { value: true });
export const ${name.replaceAll("-", "_")} = connector;
export const version = 3;
`;
}

/** Makes an empty folder of packages. */
export function fakeProject(): FakeProject {
  const folder = mkdtempSync(path.join(tmpdir(), "sinks-registry-"));
  const write = (file: string, content: unknown) => {
    const full = path.join(folder, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content));
  };
  return {
    folder,
    write,
    offer: (packageFolder, name, connectors, extra = {}) => {
      write(`${packageFolder}/package.json`, {
        name,
        version: "1.2.3",
        type: "module",
        exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
        sinks: { connectors },
        ...extra,
      });
      write(
        `${packageFolder}/index.js`,
        connectorModule(Object.keys(connectors)[0] as string, { status: packageFolder.includes("@sinks/") ? "production" : "third_party" }),
      );
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { report, surface } from "./surface.mjs";

function surfaceOf(files, doors) {
  const folder = mkdtempSync(join(tmpdir(), "surface-"));
  try {
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return report("@sinks/x", surface(Object.fromEntries(Object.entries(doors).map(([door, file]) => [door, join(folder, file)]))));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the report holds every export of every door, through re-exports, sorted and without comments", () => {
  const inner = "/** Why. */\ninterface B {\n  /** c */\n  readonly c: string;\n}\ndeclare const a: number;\nexport { a as z, type B };\n";
  const text = surfaceOf(
    { "inner-x1.d.ts": inner, "index.d.ts": 'export { z as a, B } from "./inner-x1.js";\nexport declare function f(x: string): void;\n' },
    { ".": "index.d.ts", "./inner": "inner-x1.d.ts" },
  );
  expect(text).toContain(
    "## @sinks/x\n\n```ts\ninterface B {\n    readonly c: string;\n}\n\nconst a: number;\n\nfunction f(x: string): void;\n```",
  );
  expect(text).toContain("## @sinks/x/inner\n");
});

test("a changed signature changes the report, a changed comment does not", () => {
  const of = (text) => surfaceOf({ "index.d.ts": text }, { ".": "index.d.ts" });
  const before = of("/** One. */\nexport declare function f(x: string): void;\n");
  expect(of("/** Two. */\nexport declare function f(x: string): void;\n")).toBe(before);
  expect(of("/** One. */\nexport declare function f(x: number): void;\n")).not.toBe(before);
});

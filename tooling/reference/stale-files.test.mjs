import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { staleFiles } from "./stale-files.mjs";

test("a generated page that is absent or differs is stale", () => {
  const folder = mkdtempSync(join(tmpdir(), "sinks-reference-"));
  try {
    writeFileSync(join(folder, "same.md"), "one\n");
    writeFileSync(join(folder, "other.md"), "one\n");
    const pages = new Map([
      ["same.md", "one\n"],
      ["other.md", "two\n"],
      ["absent.md", "one\n"],
    ]);
    expect(staleFiles(folder, pages)).toEqual(["other.md", "absent.md"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const maximumTextBytes = 2 * 1024 * 1024;

/**
 * A project as the rules see it: every file that git tracks or would track, as `{ path, text }` with paths relative to the root.
 * A rule is a pure function from a project to findings `{ path, line, message }`, so tests hand it a project made by hand.
 */
export function readProject(root) {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  const paths = listed.split("\0").filter((path) => path !== "");
  return project(paths.flatMap((path) => textFile(root, path)));
}

/** The file as a list of one; none when it is too large to be text, or went away since it was listed. */
function textFile(root, path) {
  try {
    const found = statSync(join(root, path));
    return found.isFile() && found.size <= maximumTextBytes ? [{ path, text: readFileSync(join(root, path), "utf8") }] : [];
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

/** A project of the given files, with its packages found by their manifests. */
export function project(files) {
  const packages = files
    .filter(({ path }) => /^(packages|apps)\/[^/]+\/package\.json$/.test(path))
    .map(({ path, text }) => ({ folder: path.replace(/\/package\.json$/, ""), manifest: JSON.parse(text) }))
    .map(({ folder, manifest }) => ({ folder, manifest, kind: kindOf(folder, manifest) }));
  return { files, packages };
}

function kindOf(folder, manifest) {
  if (folder === "packages/core") return "core";
  if (folder === "packages/testing") return "testing";
  return manifest.sinks?.connectors === undefined ? "program" : "connector";
}

/** The package that a file belongs to, or null. */
export function packageOf({ packages }, path) {
  return packages.find(({ folder }) => path.startsWith(`${folder}/`)) ?? null;
}

/** True for TypeScript that is built and published. */
export function isSource(path) {
  return /^(packages|apps)\/[^/]+\/src\/.+\.ts$/.test(path) && !path.endsWith(".test.ts");
}

/** True for code that only runs in tests. */
export function isTest(path) {
  return /^(packages|apps)\/[^/]+\/test\/.+\.ts$/.test(path) || /^(packages|apps)\/.+\.test\.ts$/.test(path);
}

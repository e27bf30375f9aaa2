import { readFileSync } from "node:fs";
import { join } from "node:path";

function contentOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // A page that is not there is as stale as one that differs.
    return null;
  }
}

/** Names of the files below a folder that are absent or hold another text than they must. */
export function staleFiles(folder, pages) {
  return [...pages].filter(([name, text]) => contentOf(join(folder, name)) !== text).map(([name]) => name);
}

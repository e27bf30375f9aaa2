import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const groups = ["packages", "apps", "examples"];

/** Folders of the workspaces in `root`, relative to it, in a stable order; the same list as in `pnpm-workspace.yaml`. */
export function workspaces(root) {
  const grouped = groups.flatMap((group) => {
    if (!existsSync(join(root, group))) return [];
    return readdirSync(join(root, group))
      .sort()
      .map((name) => `${group}/${name}`);
  });
  return [...grouped, "tooling"].filter((folder) => existsSync(join(root, folder, "package.json")));
}

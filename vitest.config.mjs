import { join } from "node:path";
import { projects } from "./tooling/vitest.mjs";
import { workspaces } from "./tooling/workspaces.mjs";

const root = import.meta.dirname;

/** Every kind of test of every workspace in one run; `npm test` uses it. */
export default {
  test: { projects: workspaces(root).flatMap((folder) => projects(join(root, folder), folder.split("/").at(-1))) },
};

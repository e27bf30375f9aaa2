import { expect, test } from "vitest";
import { manifestFaults } from "./manifest-faults.mjs";

const good = {
  description: "Stores.",
  license: "Apache-2.0",
  type: "module",
  engines: { node: ">=20.19" },
  exports: { ".": "./dist/index.js", "./package.json": "./package.json" },
  files: ["dist"],
  keywords: ["nats"],
  repository: { type: "git", url: "git+https://example.com/x.git", directory: "packages/x" },
  publishConfig: { access: "public", provenance: true },
};

test("a complete manifest has no faults", () => {
  expect(manifestFaults(good, () => true)).toEqual([]);
});

test.each(Object.keys(good))("a manifest without %s is refused", (key) => {
  const { [key]: _absent, ...rest } = good;
  expect(manifestFaults(rest, () => true)).toEqual([`"${key}" of package.json is missing or wrong`]);
});

test("a package without a README or a licence is refused", () => {
  expect(manifestFaults(good, (file) => file === "LICENSE")).toEqual(["README.md is missing"]);
  expect(manifestFaults(good, (file) => file === "README.md")).toEqual(["LICENSE is missing"]);
});

/** What a manifest of a published package lacks, one sentence each; `present` says whether a file of the package is there. */
export function manifestFaults(manifest, present) {
  const wanted = [
    ["description", (value) => typeof value === "string" && value.length > 0],
    ["license", (value) => value === "Apache-2.0"],
    ["type", (value) => value === "module"],
    ["engines", (value) => value?.node === ">=20.19"],
    ["exports", (value) => value?.["./package.json"] === "./package.json"],
    ["files", (value) => value?.includes("dist")],
    ["keywords", (value) => value?.length > 0],
    ["repository", (value) => typeof value?.url === "string" && typeof value.directory === "string"],
    ["publishConfig", (value) => value?.access === "public" && value.provenance === true],
  ];
  const faults = wanted.filter(([key, holds]) => !holds(manifest[key])).map(([key]) => `"${key}" of package.json is missing or wrong`);
  for (const file of ["README.md", "LICENSE"]) if (!present(file)) faults.push(`${file} is missing`);
  return faults;
}

/** Build settings of every published package: ESM, declarations, source maps, one file per entry. */
export function preset(entry) {
  return {
    entry,
    format: ["esm"],
    target: "node20.19",
    platform: "node",
    dts: true,
    sourcemap: true,
    clean: true,
    splitting: true,
    treeshake: true,
  };
}

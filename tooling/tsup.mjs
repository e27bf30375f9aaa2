import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Source file of a built file: `./dist/runtime.js` comes from `src/runtime.ts`. */
function sourceOf(built) {
  return built.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
}

/** Sources of everything that a manifest's `exports` and `bin` point to. */
export function entries({ exports = {}, bin = {} }) {
  const doors = Object.values(exports).map((door) => (typeof door === "string" ? door : door.default));
  return [...doors, ...Object.values(bin)].filter((file) => file.startsWith("./dist/") && file.endsWith(".js")).map(sourceOf);
}

function hasTypes({ exports = {} }) {
  return Object.values(exports).some((door) => typeof door === "object" && "types" in door);
}

/** Build settings of the package in `directory`: ESM, one file per door, source maps, declarations when a door has types. */
export function preset(directory) {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return {
    entry: entries(manifest),
    format: ["esm"],
    target: "node20.19",
    platform: "node",
    // tsup's declaration build still sets `baseUrl`, which TypeScript 6 only accepts with this word.
    dts: hasTypes(manifest) ? { compilerOptions: { ignoreDeprecations: "6.0" } } : false,
    silent: true,
    sourcemap: true,
    clean: true,
    splitting: true,
    treeshake: true,
  };
}

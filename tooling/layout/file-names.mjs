import { posix } from "node:path";

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const vague = new Set(["utils", "util", "helpers", "helper", "common", "types", "type", "misc", "shared", "stuff"]);
const wellKnown = new Set(["README", "CHANGELOG", "LICENSE", "CONTRIBUTING", "SECURITY", "ARCHITECTURE"]);
const named = /^(packages|apps|tooling|examples|docs)\//;
const code = /\.(ts|mts|mjs|js)$/;
const longest = 400;

/** Names are kebab-case whole words that say what the file does, and no file of code is longer than can be read at once. */
export function fileNames({ files }) {
  return files.flatMap(({ path, text }) => [...wrongName(path), ...tooLong(path, text)]);
}

function wrongName(path) {
  if (!named.test(path) || path.includes("/__snapshots__/")) return [];
  const words = posix.basename(path).split(".").filter(Boolean);
  if (wellKnown.has(words[0])) return [];
  const folders = posix.dirname(path).split("/");
  const bad = [...folders, ...words].find((word) => !kebab.test(word.replace(/^\./, "")));
  if (bad !== undefined) return [{ path, line: 1, message: `"${bad}" is not kebab-case` }];
  const unclear = code.test(path) ? [...folders, words[0]].find((word) => vague.has(word)) : undefined;
  return unclear === undefined ? [] : [{ path, line: 1, message: `"${unclear}" does not say what is in it` }];
}

function tooLong(path, text) {
  if (!code.test(path)) return [];
  const lines = text.split("\n").length - 1;
  return lines > longest ? [{ path, line: longest + 1, message: `${lines} lines; a file has at most ${longest}` }] : [];
}

import { posix } from "node:path";

/** A link of a document to a file of the project leads somewhere. */
export function documentLinks({ files }) {
  const places = new Set(files.flatMap(({ path }) => [path, ...parents(path)]));
  return files
    .filter(({ path }) => path.endsWith(".md"))
    .flatMap(({ path, text }) =>
      links(text)
        .filter(({ target }) => !places.has(posix.normalize(posix.join(posix.dirname(path), target)).replace(/\/$/, "")))
        .map(({ target, line }) => ({ path, line, message: `links to ${target}, which is not there` })),
    );
}

function parents(path) {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
}

function links(text) {
  return text.split("\n").flatMap((line, index) => {
    const withoutCode = line.replace(/`[^`]*`/g, "");
    return [...withoutCode.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => ({ target, line: index + 1 }))
      .filter(({ target }) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
  });
}

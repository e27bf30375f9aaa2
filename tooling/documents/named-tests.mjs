import { dirname, posix } from "node:path";

const link = /\[([^\]]+)\]\(([^)\s]+\.test\.(?:ts|mjs))\)/g;

/**
 * Links of documents to tests, whose text must be words of a title in that file: a proof that was renamed or removed is a fault.
 * `read` answers the text of a file of the repository, or null.
 */
export function namedTestFaults(documents, read) {
  return documents.flatMap(({ path, text }) =>
    [...text.matchAll(link)].flatMap(([, title, target]) => {
      // A link that shows the file's own name is to the file, not to one of its tests.
      if (title.includes(".test.")) return [];
      const file = posix.normalize(posix.join(dirname(path), target));
      const source = read(file);
      if (source === null) return [`${path}: there is no ${file}`];
      return source.includes(title) ? [] : [`${path}: ${file} has no test with the words "${title}"`];
    }),
  );
}

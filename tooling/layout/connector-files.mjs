const required = ["index.ts", "connector.ts", "options.ts", "sink.ts", "errors.ts"];

/** A new connector is a known walk: every one has the same files. */
export function connectorFiles({ files, packages }) {
  const present = new Set(files.map(({ path }) => path));
  return packages
    .filter(({ kind }) => kind === "connector")
    .flatMap(({ folder }) =>
      required
        .filter((name) => !present.has(`${folder}/src/${name}`))
        .map((name) => ({ path: `${folder}/src`, line: 1, message: `a connector has ${name}` })),
    );
}

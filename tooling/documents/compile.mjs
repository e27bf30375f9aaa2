import { dirname, join } from "node:path";
import ts from "typescript";

/**
 * Compiles programs from documents against the built packages, as if each were a file in `home`, whose dependencies they see.
 * `programs` are `{ origin, code, line }`; answers one line per error, with the place in the document.
 */
export function compile(programs, home, configurationFile) {
  const { config } = ts.readConfigFile(configurationFile, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, dirname(configurationFile));
  const virtual = new Map(programs.map((program, index) => [join(home, `document-${index}.ts`), program]));
  const host = ts.createCompilerHost({ ...options, noUnusedLocals: false, noUnusedParameters: false });
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => virtual.has(file) || fileExists(file);
  host.readFile = (file) => virtual.get(file)?.code ?? readFile(file);
  host.getSourceFile = (file, ...rest) =>
    virtual.has(file) ? ts.createSourceFile(file, virtual.get(file).code, rest[0]) : getSourceFile.call(host, file, ...rest);
  const program = ts.createProgram([...virtual.keys()], { ...options, noUnusedLocals: false, noUnusedParameters: false }, host);
  return ts.getPreEmitDiagnostics(program).flatMap(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, " ");
    if (file === undefined) return [text];
    const { origin, line } = virtual.get(file.fileName) ?? { origin: file.fileName, line: 1 };
    return [`${origin}:${line + file.getLineAndCharacterOfPosition(start).line} ${text}`];
  });
}

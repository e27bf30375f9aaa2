import ts from "typescript";
import { entries } from "../tsup.mjs";
import { isSource } from "./project.mjs";
import { lineOf, nodes, tree } from "./syntax.mjs";

const shortened = new Set(["msg", "msgs", "cfg", "opts", "mgr", "ctx", "conf"]);

/** Published code: no default exports, no console in libraries, whole words as names, and doors that hold no logic. */
export function sourceStyle({ files, packages }) {
  const findings = [];
  const doors = new Set(
    packages.flatMap(({ folder, manifest }) => entries({ exports: manifest.exports }).map((door) => `${folder}/${door}`)),
  );
  for (const file of files.filter(({ path }) => isSource(path))) {
    const find = (node, message) => findings.push({ path: file.path, line: lineOf(file, node), message });
    if (doors.has(file.path)) doorHoldsNoLogic(file, find);
    for (const node of nodes(file)) {
      if (isDefaultExport(node)) find(node, "no default exports");
      if (isConsole(node) && file.path.startsWith("packages/")) find(node, "no console in libraries");
      if (isShortenedName(node)) find(node, `"${node.name.text}" is not a whole word`);
    }
  }
  return findings;
}

function doorHoldsNoLogic(file, find) {
  for (const statement of tree(file).statements) {
    const named = ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined && statement.exportClause !== undefined;
    if (!named) find(statement, "a door only re-exports, by name");
  }
}

function isDefaultExport(node) {
  const marked = ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
  return ts.isExportAssignment(node) || marked === true || (ts.isExportSpecifier(node) && node.name.text === "default");
}

function isConsole(node) {
  return ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "console";
}

function isShortenedName(node) {
  const declares = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isPropertySignature(node) || ts.isFunctionDeclaration(node);
  return declares && node.name !== undefined && ts.isIdentifier(node.name) && shortened.has(node.name.text);
}

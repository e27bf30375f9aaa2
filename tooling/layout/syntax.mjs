import ts from "typescript";

const parsed = new WeakMap();

/** Syntax tree of a file of the project, parsed once. */
export function tree(file) {
  if (!parsed.has(file)) parsed.set(file, ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true));
  return parsed.get(file);
}

/** Line of a node, counted from 1. */
export function lineOf(file, node) {
  return tree(file).getLineAndCharacterOfPosition(node.getStart()).line + 1;
}

/** Every node of a file, parents first. */
export function* nodes(file) {
  const open = [tree(file)];
  while (open.length > 0) {
    const node = open.pop();
    yield node;
    ts.forEachChild(node, (child) => void open.push(child));
  }
}

/** Every literal module that a file imports or re-exports, also by `import()` and in types: `{ specifier, line }`. */
export function imports(file) {
  const found = [];
  for (const node of nodes(file)) {
    const specifier = specifierOf(node);
    if (specifier !== null) found.push({ specifier, line: lineOf(file, node) });
  }
  return found;
}

function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return textOf(node.arguments[0]);
  if (ts.isImportTypeNode(node)) return textOf(node.argument.literal);
  return null;
}

function textOf(node) {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
}

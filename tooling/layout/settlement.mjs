import ts from "typescript";
import { isSource } from "./project.mjs";
import { lineOf, nodes } from "./syntax.mjs";

const settler = "packages/core/src/runner/settle.ts";
const verbs = new Set(["ack", "ackAck", "nak", "term", "working"]);
const protocolWords = /^(\+ACK|-NAK|\+TERM|\+WPI|\+NXT)/;

/** Only `runner/settle.ts` calls an ack verb; the words of the ack protocol stand there or in `source/`, and nowhere else. */
export function settlement({ files }) {
  const findings = [];
  for (const file of files.filter(({ path }) => isSource(path) && path !== settler)) {
    const find = (node, message) => findings.push({ path: file.path, line: lineOf(file, node), message });
    for (const node of nodes(file)) {
      if (isVerbCall(node)) find(node, `only ${settler} calls ${node.expression.name.text}()`);
      if (isProtocolWord(node) && !file.path.startsWith("packages/core/src/source/")) find(node, `only ${settler} sends ${node.text}`);
    }
  }
  return findings;
}

function isVerbCall(node) {
  return ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && verbs.has(node.expression.name.text);
}

function isProtocolWord(node) {
  return (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && protocolWords.test(node.text);
}

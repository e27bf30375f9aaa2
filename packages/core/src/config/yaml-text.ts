import { type Document, isMap, isScalar, LineCounter, type Node, parseAllDocuments, visit } from "yaml";
import { TextFault } from "./json-text.js";

const reasons: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "a key stands twice in one mapping",
  TAG_RESOLVE_FAILED: "custom tags are not allowed",
  ALIAS_PROPS: "aliases and anchors are not allowed",
  BAD_ALIAS: "aliases and anchors are not allowed",
  TAB_AS_INDENT: "a tab is used for indentation",
  BLOCK_AS_IMPLICIT_KEY: "a value with a colon and a space in it; put it in quotes, or on a line of its own",
  BLOCK_IN_FLOW: "a mapping or list over several lines inside brackets",
  MULTILINE_IMPLICIT_KEY: "a key over several lines; a colon, a quote or the indentation is wrong",
  UNEXPECTED_TOKEN: "something stands here that does not belong here",
  BAD_SCALAR_START: "a value that begins with this character must be in quotes",
  BAD_DQ_ESCAPE: "an escape sequence that double quotes do not know",
  MISSING_CHAR: "a quote, bracket or separator is missing",
  BAD_INDENT: "the indentation is wrong",
  RESOURCE_EXHAUSTION: "nested too deep",
  MULTIPLE_DOCS: "more than one document",
};

/** Levels of nesting; each is a collection and, in a mapping, a pair. */
const deepest = 100;

type Place = (offset: number) => { readonly line: number; readonly col: number };

function refuse(message: string, offset: number, place: Place): never {
  const { line, col } = place(offset);
  throw new TextFault(message, line, col);
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function checkNodes(document: Document.Parsed, place: Place): void {
  visit(document, {
    Alias: (_key, node) => refuse("aliases and anchors are not allowed", offsetOf(node), place),
    Node: (_key, node, ancestors) => {
      if (ancestors.length > 2 * deepest) refuse("nested too deep", offsetOf(node), place);
      if (node.anchor !== undefined) refuse("aliases and anchors are not allowed", offsetOf(node), place);
      if (isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value))
        refuse("a number is not finite", offsetOf(node), place);
      if (isScalar(node) && typeof node.value === "object" && node.value !== null)
        refuse("custom tags are not allowed", offsetOf(node), place);
      if (!isMap(node)) return;
      const seen = new Set<string>();
      for (const { key } of node.items) {
        if (!isScalar(key) || key.value === null) refuse("a key must be plain text", offsetOf(key ?? node), place);
        const name = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
        if (seen.has(name)) refuse("a key stands twice in one mapping", offsetOf(key), place);
        seen.add(name);
      }
    },
  });
}

/**
 * Reads one document of YAML 1.2 core: duplicate keys, non-finite numbers, aliases, anchors and custom tags are refused;
 * throws `TextFault`. Source text never appears in the fault.
 */
export function readYamlText(text: string): unknown {
  const lines = new LineCounter();
  const place: Place = (offset) => lines.linePos(offset);
  const documents = parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    resolveKnownTags: false,
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "silent",
    strict: true,
  });
  const [document, second] = documents;
  if (document === undefined || !("contents" in document)) return null;
  if (second !== undefined) refuse("more than one document", second.range[0], place);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) refuse(reasons[problem.code] ?? "not valid YAML", problem.pos[0], place);
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== "1.2") refuse("only YAML 1.2 is read", 0, place);
  checkNodes(document, place);
  return document.toJS({ maxAliasCount: 0 }) as unknown;
}

import { posix } from "node:path";
import ts from "typescript";
import { imports, lineOf, nodes } from "./syntax.mjs";

const root = "packages/core/src/";

/** Folders of core that each folder must not import; what stands under a name is what that folder must not know. */
const mustNotImport = {
  error: ["config", "connector", "envelope", "option", "registry", "route", "runner", "source", "telemetry", "write-map"],
  envelope: ["config", "connector", "registry", "route", "runner", "source", "write-map"],
  option: ["config", "connector", "envelope", "registry", "route", "runner", "source", "write-map"],
  telemetry: ["config", "connector", "envelope", "registry", "route", "runner", "source", "write-map"],
  connector: ["config", "registry", "route", "runner", "source", "write-map"],
  config: ["registry", "runner", "source"],
  registry: ["route", "runner", "source"],
  source: ["dead-letter", "registry", "replay", "route", "runner", "verify", "write-map"],
  gate: ["registry", "route", "runner", "source", "write-map"],
  observation: ["registry", "route", "source", "write-map"],
  route: ["registry", "runner", "source", "write-map"],
  "write-map": ["connector", "dead-letter", "registry", "replay", "runner", "source", "verify"],
  "dead-letter": ["registry", "replay", "route", "runner", "verify", "write-map"],
  runner: ["registry", "replay", "verify"],
  replay: ["registry", "verify"],
  probe: ["doctor", "registry", "replay", "runner", "verify"],
  verify: ["doctor", "registry", "replay", "runner"],
  doctor: ["registry", "replay", "verify"],
};

/** Modules outside core that a folder must not import. */
const mustNotLoad = {
  config: /^node:(net|tls|http|https|http2|dgram|dns)/,
  telemetry: /^(pino|prom-client|@opentelemetry\/)/,
  error: /^[^.]/,
};

/** Holds the map of core: which folder must not know which, who reads the environment, and who may wait. */
export function coreMap({ files }) {
  const findings = [];
  for (const file of files) {
    if (!file.path.startsWith(root) || !file.path.endsWith(".ts")) continue;
    const folder = folderOf(file.path);
    if (folder === null) continue;
    for (const { specifier, line } of imports(file)) {
      const target = specifier.startsWith(".") ? folderOf(posix.join(posix.dirname(file.path), specifier)) : null;
      if (target !== null && mustNotImport[folder]?.includes(target))
        findings.push({ path: file.path, line, message: `${folder}/ must not know ${target}/` });
      if (mustNotLoad[folder]?.test(specifier)) findings.push({ path: file.path, line, message: `${folder}/ must not load ${specifier}` });
    }
    findings.push(...forbiddenCalls(file, folder), ...(folder === "connector" ? settlementWords(file) : []));
  }
  return findings;
}

/** The contract of a sink does not speak of acknowledgement at all, not even in a comment. */
function settlementWords({ path, text }) {
  return text.split("\n").flatMap((line, index) => {
    const word = /\b(ack|nak|term)s?\b/i.exec(line)?.[0];
    return word === undefined ? [] : [{ path, line: index + 1, message: `connector/ must not mention ${word}` }];
  });
}

function folderOf(path) {
  const [folder, rest] = posix.normalize(path).slice(root.length).split("/");
  return rest === undefined ? null : folder;
}

function forbiddenCalls(file, folder) {
  const findings = [];
  const isTally = folder === "route" && file.path.endsWith("/gate.ts");
  for (const node of nodes(file)) {
    if (ts.isPropertyAccessExpression(node) && node.getText() === "process.env") {
      findings.push({ path: file.path, line: lineOf(file, node), message: "core reads no environment of its own; it is handed in" });
    }
    if (isTally && ts.isIdentifier(node) && /^set(Timeout|Interval|Immediate)$/.test(node.text)) {
      findings.push({ path: file.path, line: lineOf(file, node), message: "the gate is a pure tally and never waits" });
    }
  }
  return findings;
}

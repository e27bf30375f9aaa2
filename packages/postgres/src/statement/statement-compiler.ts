import { compareUtf8 } from "@sinks/core";
import { maximumParameters } from "../render/maximum-parameters.js";
import { castName, type ParamType, parseParamType, scalarTypes } from "../value/param-type.js";
import { findPlaceholders, type Placeholder } from "./placeholders.js";
import { LexicalFault, lexSql, type Token } from "./sql-lexer.js";
import { faultAt, type StatementFault } from "./statement-fault.js";

/** A statement as the server gets it. */
export interface CompiledSql {
  /** The keyword that it begins with, in small letters. */
  readonly command: string;
  readonly text: string;
  /** Names of the placeholders, in the order of `$1`, `$2`, … */
  readonly names: readonly string[];
  /** Declared types in the same order; null when the statement declares none. */
  readonly types: readonly ParamType[] | null;
}

/** A param declaration that does not fit; `name` says which. */
export interface ParamFault {
  readonly name: string;
  readonly reason: string;
}

/** The compiled statement, or everything that is wrong with it. */
export type CompilerResult =
  | { readonly compiled: CompiledSql }
  | { readonly compiled: null; readonly fault: StatementFault | null; readonly params: readonly ParamFault[] };

const commands: ReadonlySet<string> = new Set(["insert", "update", "delete", "merge", "with", "select", "call"]);

/** Compiles SQL with `:name` placeholders to numbered parameters (WO-PGS-02). Pure; done once, never on the write path. */
export function compileStatement(sql: string, params: Readonly<Record<string, string>> | null = null): CompilerResult {
  try {
    const tokens = lexSql(sql);
    checkCharacters(sql);
    const command = checkedCommand(sql, tokens);
    const placeholders = findPlaceholders(sql, tokens);
    const names = [...new Set(placeholders.map(({ name }) => name))];
    const surplus = names[maximumParameters];
    if (surplus !== undefined) throw new LexicalFault(`more than ${maximumParameters} different names`, startOf(placeholders, surplus));
    const types = params === null ? null : new Map(Object.entries(params).map(([name, type]) => [name, parseParamType(type)]));
    const faults = types === null ? [] : paramFaults(names, types);
    if (faults.length > 0) return { compiled: null, fault: null, params: faults };
    const declared = types === null ? null : names.map((name) => types.get(name) as ParamType);
    return { compiled: { command, text: render(sql, placeholders, names, declared), names, types: declared } };
  } catch (error) {
    if (!(error instanceof LexicalFault)) throw error;
    return { compiled: null, fault: faultAt(sql, error.offset, error.message), params: [] };
  }
}

function checkCharacters(sql: string): void {
  const nul = sql.indexOf("\0");
  if (nul !== -1) throw new LexicalFault("U+0000 cannot be part of a statement", nul);
  const surrogate = sql.search(/\p{Surrogate}/u);
  if (surrogate !== -1) throw new LexicalFault("half of a surrogate pair cannot be part of a statement", surrogate);
}

/** One command of a kind that writes or calls, and nothing after its semicolon (WO-PGS-01, -13, -14). */
function checkedCommand(sql: string, tokens: readonly Token[]): string {
  const code = tokens.filter(({ kind }) => kind !== "space" && kind !== "comment");
  const [first] = code;
  if (first === undefined || sql[first.start] === ";") throw new LexicalFault("the statement is empty", 0);
  const command = sql.slice(first.start, first.end).toLowerCase();
  if (first.kind !== "identifier" || !commands.has(command)) {
    throw new LexicalFault("a statement begins with INSERT, UPDATE, DELETE, MERGE, WITH, SELECT or CALL", first.start);
  }
  const end = code.findIndex(({ kind, start }) => kind === "symbol" && sql[start] === ";");
  const after = end === -1 ? undefined : code[end + 1];
  if (after !== undefined) throw new LexicalFault("a statement is one command: nothing may follow its semicolon", after.start);
  return command;
}

function startOf(placeholders: readonly Placeholder[], name: string): number {
  return placeholders.find((placeholder) => placeholder.name === name)?.start ?? 0;
}

/** With declared params every placeholder is declared, and nothing else (WO-PGS-18). */
function paramFaults(names: readonly string[], types: ReadonlyMap<string, ParamType | null>): readonly ParamFault[] {
  const undeclared = names.filter((name) => !types.has(name)).map((name) => ({ name, reason: "undeclared: the statement uses it" }));
  const declared = [...types].flatMap(([name, type]) => {
    if (!names.includes(name)) return [{ name, reason: "the statement does not use it" }];
    return type === null ? [{ name, reason: `no known type; the types are ${scalarTypes.join(", ")}, with [] and ? after them` }] : [];
  });
  return [...undeclared, ...declared].sort((left, right) => compareUtf8(left.name, right.name));
}

function render(sql: string, placeholders: readonly Placeholder[], names: readonly string[], types: readonly ParamType[] | null): string {
  const numbers = new Map(names.map((name, index) => [name, index]));
  let text = "";
  let copied = 0;
  for (const { name, start, end } of placeholders) {
    const index = numbers.get(name) as number;
    const type = types?.[index];
    text += `${sql.slice(copied, start)}$${index + 1}${type === undefined ? "" : `::${castName(type)}`}`;
    copied = end;
  }
  return text + sql.slice(copied);
}

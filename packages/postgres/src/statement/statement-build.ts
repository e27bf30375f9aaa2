import { compareUtf8 } from "@sinks/core";
import { rejectPayload } from "../payload/payload-rejection.js";
import type { BoundValue, BuiltWrite, Form } from "../render/built-write.js";
import { createSingleForm } from "../render/single-form.js";
import { paramText } from "../value/param-value.js";
import type { NulPolicy } from "../value/scalar-text.js";
import { ValueFault } from "../value/value-fault.js";
import type { NamedStatement, NamedStatements } from "./named-statement.js";

/** What the build of statements depends on. */
export interface StatementBuildSettings {
  readonly nul: NulPolicy;
  readonly onZeroRows: Form["onZeroRows"];
  readonly statements: NamedStatements;
}

/** A payload of a statement as far as it has been checked. */
export interface GivenStatement {
  readonly statement: string;
  readonly params?: Readonly<Record<string, unknown>> | null;
}

/** An unexpected name may be anything; a report shows this much of it. */
const longestName = 63;

/** Makes the build step of named statements: their forms exist from the start (WO-PGS-02, -17). */
export function createStatementBuilder(settings: StatementBuildSettings): (payload: GivenStatement) => BuiltWrite {
  const { statements, nul } = settings;
  const forms = new Map([...statements].map(([name, statement]) => [name, formOf(statement, settings.onZeroRows)]));
  const configured = statements.size === 0 ? "<none configured>" : [...statements.keys()].sort(compareUtf8).join(", ");
  return ({ statement: name, params }) => {
    const statement = statements.get(name);
    const form = forms.get(name);
    if (statement === undefined || form === undefined) {
      throw rejectPayload("statement", `no such statement is configured; the names are ${configured}`);
    }
    return bind(statement, form, params ?? {}, nul);
  };
}

function formOf({ name, sql, onZeroRows }: NamedStatement, fallback: Form["onZeroRows"]): Form {
  return createSingleForm("statement", { destination: name, table: null }, sql.text, onZeroRows ?? fallback);
}

function bind(statement: NamedStatement, form: Form, params: Readonly<Record<string, unknown>>, nul: NulPolicy): BuiltWrite {
  const { names, types } = statement.sql;
  checkNames(statement, params);
  const values: BoundValue[] = [];
  let bytes = 0;
  for (const [index, name] of names.entries()) {
    try {
      const text = paramText(params[name], types?.[index] ?? null, nul);
      values.push(text);
      bytes += 4 + (text === null ? 0 : Buffer.byteLength(text));
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      throw rejectPayload("statement", `"${statement.name}": params.${name}${error.path} ${error.message}`);
    }
  }
  // The text is the operator's: no message has a say in its names.
  return { form, values, conflict: null, bytes, namesFromMessage: false };
}

function checkNames({ name, sql }: NamedStatement, params: Readonly<Record<string, unknown>>): void {
  const missing = sql.names.filter((each) => !Object.hasOwn(params, each));
  const given = Object.keys(params);
  if (missing.length === 0 && given.length === sql.names.length) return;
  const unexpected = given.filter((each) => !sql.names.includes(each));
  const groups = [describe("missing", missing), describe("unexpected", unexpected)].filter((group) => group !== "");
  throw rejectPayload("statement", `"${name}": params ${groups.join("; ")}`);
}

function describe(word: string, names: readonly string[]): string {
  return names.length === 0
    ? ""
    : `${word} ${[...names]
        .sort(compareUtf8)
        .map((name) => JSON.stringify(name.slice(0, longestName)))
        .join(", ")}`;
}

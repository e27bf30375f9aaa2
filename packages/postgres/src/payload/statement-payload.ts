import type { NumberToken } from "@sinks/core";
import type { ParamTypeText, ScalarType } from "../value/param-type.js";
import type { JsonText } from "./json-text.js";
import type { ColumnValue } from "./payload.js";

/** Statements as a configuration holds them; a constant of this shape types the payloads (WO-GEN-18). */
export type AnyStatements = {
  readonly [name: string]:
    | string
    | { readonly sql: string; readonly params?: { readonly [name: string]: ParamTypeText } | null; readonly [option: string]: unknown };
};

type Integer = number | bigint | NumberToken;
type Time = Date | string;

/** What code may give for each declared type. */
interface ScalarValues {
  readonly bool: boolean;
  readonly int2: Integer;
  readonly int4: Integer;
  readonly int8: Integer;
  readonly float4: number | NumberToken;
  readonly float8: number | NumberToken;
  readonly numeric: Integer | string;
  readonly text: string;
  readonly uuid: string;
  readonly date: Time;
  readonly timestamp: Time;
  readonly timestamptz: Time;
  readonly interval: string;
  readonly json: ColumnValue;
  readonly jsonb: ColumnValue;
  readonly bytea: Uint8Array;
  readonly inet: string;
}

type DeclaredValue<Type> = Type extends `${infer Inner}?`
  ? DeclaredValue<Inner> | null
  : Type extends `${infer Base extends ScalarType}[]`
    ? readonly (ScalarValues[Base] | null)[]
    : Type extends ScalarType
      ? ScalarValues[Type] | JsonTextFor<Type>
      : never;

type JsonTextFor<Type> = Type extends "json" | "jsonb" ? JsonText : never;

type ParamsOf<Statement> = Statement extends { readonly params: infer Params extends { readonly [name: string]: string } }
  ? { readonly params: { readonly [Name in keyof Params]: DeclaredValue<Params[Name]> } }
  : { readonly params?: { readonly [name: string]: ColumnValue } | null };

/** Runs a named statement; its names, and the params of those that declare them, come from the configuration. */
export type StatementPayload<Statements extends AnyStatements = AnyStatements> = {
  readonly [Name in keyof Statements & string]: { readonly op: "statement"; readonly statement: Name } & ParamsOf<Statements[Name]>;
}[keyof Statements & string];

import type { z } from "zod";

/** What may stand in one field of an operation. */
export interface WriteField {
  /**
   * `literal` never holds a reference (names of tables, columns, statements). `value` is any value or a reference. `record`
   * is a mapping and `list` a list whose values may be references at any depth.
   */
  readonly kind: "literal" | "value" | "record" | "list";
  /** One sentence for the reference. */
  readonly description: string;
  /** Form of a literal; any value where it is absent. */
  readonly schema?: z.ZodType;
  /** With `record` or `list`: the field may also be one reference that gives the whole of it (FW-MAP-03). */
  readonly wholeReference?: true;
  /** A required field that null, `""`, `[]` or `{}` satisfies too (WO-GEN-07). */
  readonly mayBeEmpty?: true;
  /** With `literal`: a field that stands in its place and lets a token of the subject choose (WO-ENV-06). */
  readonly chosenBy?: string;
  /** With `literal`: the field names a declared text, and `params` is the field with its parameters; null when it has none by name. */
  readonly declares?: { readonly params: string | null };
}

/** Fields of one operation, by their names in a configuration (snake_case); what is not listed is not used by it. */
export interface WriteOperation {
  readonly required: Readonly<Record<string, WriteField>>;
  readonly optional?: Readonly<Record<string, WriteField>>;
}

/** Something wrong inside a rule. */
export interface RuleFault {
  /** Path below the rule, such as `["data", "kg"]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** True for what the schema of the options finds as well, and says better. */
  readonly ofSchema?: true;
}

/** What a connector states of its operations so that a write map can be compiled for it (FW-MAP-07). */
export interface WriteVocabulary {
  /** The operation of a rule that names none (WO-GEN-01). */
  readonly defaultOperation: string;
  readonly operations: Readonly<Record<string, WriteOperation>>;
  /** The connector's own look at a rule, as configured: identifiers, literals that exclude one another. */
  readonly check?: (operation: string, fields: Readonly<Record<string, unknown>>) => Iterable<RuleFault>;
}

/** By field: the names of the texts that the configuration declares, each with its parameters, or null where they have no names. */
export type DeclaredTexts = Readonly<Record<string, ReadonlyMap<string, readonly string[] | null>>>;

/** All fields of an operation, required ones first. */
export function fieldsOf({ required, optional = {} }: WriteOperation): Readonly<Record<string, WriteField>> {
  return { ...required, ...optional };
}

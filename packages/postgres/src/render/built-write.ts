/** One bound parameter as text; null is SQL NULL (WO-VAL-10). */
export type BoundValue = string | null;

/** The operations of a payload (WO-PG-01). */
export type Operation = "insert" | "update" | "upsert" | "delete" | "statement";

/** What the server is sent for some writes of one form. */
export interface Query {
  readonly text: string;
  /** Text, or bytes in the server's binary format: those only where the text casts the parameter to their very type. */
  readonly values: readonly (BoundValue | Uint8Array)[];
  /** False where the text would hardly ever repeat, so that no plan is kept for it (WO-PG-33). */
  readonly prepare: boolean;
}

/** What all writes of one shape have in common (WO-PG-20). A form is made once per shape: the same object is the same shape. */
export interface Form {
  readonly operation: Operation | "envelope";
  /** The table as configured, or the statement's name: for errors, logs and the probe. Never text of a statement. */
  readonly destination: string;
  /** Table whose column types decided the values, quoted; null where none did. */
  readonly table: string | null;
  /** How many neighbours one statement may hold; 1 for one text with a bind set per write (WO-PG-24). */
  readonly maximumRows: number;
  /** True when a statement must not hold one conflict tuple twice (WO-PG-22). */
  readonly cutsAtRepeatedConflict: boolean;
  /** What no matched row means (WO-PG-08). */
  readonly onZeroRows: "ignore" | "warn" | "fail";
  query(rows: readonly BuiltWrite[]): Query;
}

/** One write that was checked and encoded and only has to be sent (WO-GEN-09). */
export interface BuiltWrite {
  readonly form: Form;
  /** In the order of the form's parameters. */
  readonly values: readonly BoundValue[];
  /** The conflict tuple where all of its columns have a value, injectively as text; else null. */
  readonly conflict: string | null;
  /** Size of the values on the wire, about. */
  readonly bytes: number;
  /** True when the message chose names of table or columns (`data` as one reference, `table_by`): a name that the database lacks is then its own fault (WO-ERR-05). */
  readonly namesFromMessage: boolean;
}

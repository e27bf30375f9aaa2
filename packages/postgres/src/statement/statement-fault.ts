import { ConfigurationError } from "@sinks/core";

/** What is wrong with a statement's text and where; line and column count from 1, the column in characters. */
export interface StatementFault {
  readonly reason: string;
  readonly line: number;
  readonly column: number;
}

/** A fault at an offset of the text. */
export function faultAt(text: string, offset: number, reason: string): StatementFault {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { reason, line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1 };
}

/** One line about a fault; it never shows the text (WO-GEN-05). */
export function describeFault({ reason, line, column }: StatementFault): string {
  return `line ${line}, column ${column}: ${reason}`;
}

/** The configuration error of a named statement (WO-PGS-15). */
export function statementError(name: string, fault: StatementFault): ConfigurationError {
  return new ConfigurationError(`statement "${name}", ${describeFault(fault)}`);
}

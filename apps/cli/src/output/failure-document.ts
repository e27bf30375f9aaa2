import { isSinksError } from "@sinks/core";
import { configurationFaults } from "@sinks/core/runtime";
import { errorExitCode } from "../error-exit-code.js";
import { NotFoundError } from "../not-found-error.js";
import { UsageError } from "../usage-error.js";
import { oneLine } from "./escape.js";

/** One thing that is wrong: the key it is about, where there is one, and what to do. */
export interface Problem {
  readonly path: string | null;
  readonly message: string;
  readonly remedy: string | null;
  readonly code: string;
}

/** A failed command as a document; the JSON form of what stderr says. */
export interface FailureDocument {
  readonly error: { readonly code: string; readonly exit_code: number; readonly problems: readonly Problem[] };
}

/** True for an error that the program foresees; any other is a fault of the program itself. */
export function isForeseen(error: unknown): boolean {
  return isSinksError(error) || error instanceof UsageError || error instanceof NotFoundError;
}

/** The problems of a foreseen error, one per fault of a configuration, otherwise one. */
export function problemsOf(error: unknown): readonly Problem[] {
  const faults = configurationFaults(error);
  if (faults.length > 0) {
    return faults.map(({ path, message, remedy, code }) => ({
      path: oneLine(path),
      message: oneLine(message),
      remedy: remedy === null ? null : oneLine(remedy),
      code,
    }));
  }
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n").map((line) => ({ ...partsOf(oneLine(line)), code: codeOf(error) }));
}

/** Errors that carry no list of faults say the same in one line: `<key>: <what is wrong>; <what to do>`. */
function partsOf(line: string): Omit<Problem, "code"> {
  const [, path = null, rest = line] = /^([a-z_]+(?:\.[a-z_]+)*): (.*)$/s.exec(line) ?? [];
  const cut = rest.indexOf("; ");
  return cut < 0 ? { path, message: rest, remedy: null } : { path, message: rest.slice(0, cut), remedy: rest.slice(cut + 2) };
}

/** One problem as one line: `delivery.bach_size: unknown key; did you mean "batch_size"?`. */
export function problemLine({ path, message, remedy }: Problem): string {
  return `${path === null ? "" : `${path}: `}${message}${remedy === null ? "" : `; ${remedy}`}`;
}

/** The document of a foreseen error. */
export function failureDocument(error: unknown): FailureDocument {
  return { error: { code: codeOf(error), exit_code: errorExitCode(error), problems: problemsOf(error) } };
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return "usage";
  if (error instanceof NotFoundError) return "not_found";
  return isSinksError(error) ? error.code : "unexpected";
}

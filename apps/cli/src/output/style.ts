import type { Host, Output } from "../host.js";

/** Colours for people; every function gives its text unchanged where colour is not wanted. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warning(text: string): string;
}

function wrap(on: boolean, open: number, close: number): (text: string) => string {
  return on ? (text) => `\u001b[${open}m${text}\u001b[${close}m` : (text) => text;
}

/** Colour only on a terminal, and never under `NO_COLOR` or a dumb terminal (FW-CLI-04). */
export function styleOf(output: Output, environment: Host["environment"]): Style {
  const on = output.isTerminal && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
  return {
    bold: wrap(on, 1, 22),
    dim: wrap(on, 2, 22),
    good: wrap(on, 32, 39),
    bad: wrap(on, 31, 39),
    warning: wrap(on, 33, 39),
  };
}

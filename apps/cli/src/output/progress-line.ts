import type { Output } from "../host.js";

const clear = "\r\u001b[2K";

/** One line at the foot of a terminal that is written over; log lines go above it. Without a terminal there is no such line. */
export class ProgressLine {
  readonly #output: Output;
  #shown = "";

  constructor(output: Output) {
    this.#output = output;
  }

  /** Shows this text in place of what is shown; cut to the width of the terminal, so that it stays one line. */
  show(text: string): void {
    if (!this.#output.isTerminal) return;
    this.#shown = text.slice(0, Math.max(1, this.#output.columns() - 1));
    this.#output.write(`${clear}${this.#shown}`);
  }

  /** Writes a whole line above the progress line. */
  writeLine(text: string): void {
    this.#output.write(this.#shown === "" ? `${text}\n` : `${clear}${text}\n${this.#shown}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#shown !== "") this.#output.write(clear);
    this.#shown = "";
  }
}

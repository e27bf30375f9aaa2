import type { InventoryReport } from "../connector/inventory.js";

/** One look at the destination: hands on what it lists, and remembers whether there is a destination at all. */
export class DestinationLook implements InventoryReport {
  readonly stored: (sequence: number) => void;
  readonly note: (what: string) => void;
  #absent = false;

  constructor(stored: (sequence: number) => void, note: (what: string) => void) {
    this.stored = stored;
    this.note = note;
  }

  get isAbsent(): boolean {
    return this.#absent;
  }

  readonly damaged = (what: string): void => this.note(what);

  readonly absent = (what: string): void => {
    this.#absent = true;
    this.note(`${what}: what is gone from the stream up to the ack floor counts as missing`);
  };
}

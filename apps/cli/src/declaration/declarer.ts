import type { Command } from "commander";
import type { Host } from "../host.js";
import type { Format } from "../output/result.js";

/** What the declaration of commands is done with. */
export interface Declarer {
  readonly host: Host;
  readonly program: Command;
  /** Adds a command that inherits how the program prints. */
  add(parent: Command, name: string, summary: string): Command;
  /** Runs an action: its exit code is kept, its failure is reported in the format asked for. */
  attempt(format: Format, work: () => Promise<number>): Promise<void>;
}

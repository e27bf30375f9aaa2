import { type Conditions, type ReplaySelection, type SelectableField, selectableFields } from "@sinks/core/runtime";
import { parsedSequence } from "./sequence-argument.js";
import { UsageError } from "./usage-error.js";

/** How a command line names the dead letters that it means. */
export interface ReplayChoice {
  readonly sequences: readonly string[];
  readonly all: boolean;
  /** `FIELD=VALUE`, all of which must hold. */
  readonly where: readonly string[];
}

/** Reads the choice; throws `UsageError` when there is none, or more than one kind. */
export function replaySelection({ sequences, all, where }: ReplayChoice): ReplaySelection {
  if (sequences.length > 0) {
    if (all || where.length > 0) throw new UsageError("give sequences, or --all, or --where, not both");
    return { sequences: sequences.map(parsedSequence) };
  }
  if (!all && where.length === 0) {
    throw new UsageError("nothing chosen; give sequences that `sinks dlq list` shows, or --all, or --where FIELD=VALUE");
  }
  return { where: conditions(where) };
}

function conditions(texts: readonly string[]): Conditions {
  const found: Partial<Record<SelectableField, string>> = {};
  for (const text of texts) {
    const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? [];
    const field = selectableFields.find((candidate) => candidate === name);
    if (field === undefined || value === undefined) {
      throw new UsageError(`--where takes FIELD=VALUE; the fields are ${selectableFields.join(", ")}`);
    }
    if (found[field] !== undefined) throw new UsageError(`--where names ${field} twice`);
    found[field] = value;
  }
  return found;
}

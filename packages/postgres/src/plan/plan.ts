import { isSinkError, type PlannedMessage, type PlannedRun, type PlannedWrite, type SinkError, type SinkPlan } from "@sinks/core";
import { chunksOf } from "../execute/chunks.js";
import { runsOf } from "../execute/runs.js";
import type { RetrySafety } from "../payload/retry-safety.js";
import type { BuiltWrite } from "../render/built-write.js";

/** One write of a message as far as it came. */
export interface PlanEntry {
  /** The statement's name, else the table; null where the payload has none that could be one. */
  readonly destination: string | null;
  /** `op`, `where`, `conflict`: what the operation is known by (WO-OB-01). */
  readonly extras: Readonly<Record<string, unknown>>;
  readonly built: BuiltWrite | SinkError;
}

/** The writes of one message, or why it has none. */
export type MessageEntries = readonly PlanEntry[] | SinkError;

/** What a plan shows, and what is known of the whole batch. */
export interface PlanSettings {
  readonly showValues: boolean;
  readonly maximumChunkBytes: number;
  readonly safety: RetrySafety;
  readonly ledger: boolean;
  readonly notes: readonly string[];
}

/**
 * The plan of a batch (WO-OB-02): a message with a write that cannot be built is not sent at all, so its other writes have no
 * place; what remains is joined and cut as the execution does it.
 */
export function describePlan(messages: readonly MessageEntries[], settings: PlanSettings): SinkPlan {
  const sent = messages.flatMap(builtWrites);
  const { runs, places } = placesOf(sent, settings.maximumChunkBytes);
  let next = 0;
  const planned = messages.map((entries): PlannedMessage => {
    if (isSinkError(entries)) return { writes: [], error: entries };
    const goes = builtWrites(entries).length === entries.length;
    const writes = entries.map((entry) => describeWrite(entry, goes ? (places[next++] ?? null) : null, settings.showValues));
    return { writes, error: null };
  });
  return { messages: planned, runs, retrySafety: reasoned(settings, sent.length), notes: settings.notes };
}

function reasoned({ safety, ledger }: PlanSettings, writes: number): SinkPlan["retrySafety"] {
  if (safety.answer === "unsafe") return safety;
  if (writes === 0) return { answer: "safe", reason: "nothing is written" };
  return {
    answer: "safe",
    reason: ledger ? "the ledger lets a repeat take effect once" : "every write leaves the same when it is repeated",
  };
}

/** What is sent of a message: all of its writes or none. */
function builtWrites(entries: MessageEntries): readonly BuiltWrite[] {
  if (isSinkError(entries)) return [];
  const built = entries.flatMap((entry) => (isSinkError(entry.built) ? [] : [entry.built]));
  return built.length === entries.length ? built : [];
}

function placesOf(writes: readonly BuiltWrite[], maximumChunkBytes: number) {
  const places: PlannedWrite["place"][] = [];
  const runs = runsOf(writes).map((run, index): PlannedRun => {
    const chunks = chunksOf(writes, run, maximumChunkBytes).map(({ from, to }) => to - from);
    for (const [chunk, count] of chunks.entries()) for (let write = 0; write < count; write += 1) places.push({ run: index, chunk });
    return { operation: run.form.operation, destination: run.form.destination, chunks };
  });
  return { runs, places };
}

function describeWrite({ destination, extras, built }: PlanEntry, place: PlannedWrite["place"], showValues: boolean): PlannedWrite {
  if (isSinkError(built)) return { destination, extras, rendered: null, valueCount: 0, values: null, place: null, error: built };
  const { form, values } = built;
  return {
    destination,
    extras,
    // The operator's own text stays where it is (WO-GEN-05).
    rendered: form.operation === "statement" ? null : form.query([built]).text,
    valueCount: values.length,
    values: showValues ? values : null,
    place,
    error: null,
  };
}

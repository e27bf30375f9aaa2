import { type Envelope, isSinkError } from "@sinks/core";
import { checkPayload } from "../payload/check-payload.js";
import type { PostgresPayload } from "../payload/payload.js";
import type { PayloadSource } from "../payload/payload-source.js";
import type { MessageEntries } from "./plan.js";
import { type EntryParts, needsTypes, planEntry } from "./plan-entry.js";

/** What planning payloads needs besides the messages. */
export interface PayloadPlanParts extends EntryParts {
  readonly source: PayloadSource;
  /** Reads the types of these tables, quoted, where it can; says why it could not, else null. */
  readonly readTypes: (tables: ReadonlySet<string>) => Promise<string | null>;
}

/** What messages become, as far as it is known before anything is sent. */
export interface PayloadPlan {
  readonly entries: readonly MessageEntries[];
  /** The payloads that passed their first check, in order. */
  readonly payloads: readonly PostgresPayload[];
  readonly notes: readonly string[];
}

/** Makes and builds the payloads of messages; the database is asked only for what the build depends on (WO-VAL-11). */
export async function planPayloads(messages: readonly Envelope[], parts: PayloadPlanParts): Promise<PayloadPlan> {
  const sourced = [];
  for (const message of messages) sourced.push(await payloadsOf(message, parts.source));
  const payloads = sourced.flatMap((given) => (isSinkError(given) ? [] : given.flatMap(({ payload }) => checked(payload, parts))));
  const tables = new Set(payloads.filter(needsTypes).map((payload) => parts.builder.table(payload)?.text ?? ""));
  const note = tables.size === 0 ? null : await parts.readTypes(tables);
  const entries = sourced.map((given): MessageEntries => {
    if (isSinkError(given)) return given;
    return given.map(({ payload, rule }) => planEntry(payload, rule.namesFromMessage, parts));
  });
  return { entries, payloads, notes: note === null ? [] : [note] };
}

async function payloadsOf(message: Envelope, source: PayloadSource) {
  try {
    return await source.payloads(message);
  } catch (error) {
    if (isSinkError(error)) return error;
    throw error;
  }
}

function checked(payload: unknown, { settings }: EntryParts): readonly PostgresPayload[] {
  try {
    return [checkPayload(payload, settings)];
  } catch {
    // What is wrong with it is told by its entry.
    return [];
  }
}

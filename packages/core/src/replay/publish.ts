import type { DeadLetterEntry } from "../dead-letter/entry.js";
import { digestKey } from "../envelope/idempotency-key.js";
import { DeadLetterError } from "../error/errors.js";
import type { ReplayStore } from "../source/replay-store.js";
import type { ReplayMessage } from "./source.js";

/** Ours that say something of the message; whatever else is named `Nats-*` would make the server do something. */
const harmless = /^nats-(?:sinks-|time-stamp$)/i;

/** Headers with which a message can be published once more (FW-DLQ-10). */
export function republishedHeaders(headers: ReplayMessage["headers"]): Map<string, string> {
  const kept = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && (!/^nats-/i.test(name) || harmless.test(name))) kept.set(name, value);
  }
  return kept;
}

/**
 * Publishes a message on its subject again under an id of its own; false when the server had it under this id already, from
 * a replay that did not get to its marker. Rejects with `DeadLetterError` when another stream than the original one took it.
 */
export async function republish(
  store: Pick<ReplayStore, "publish">,
  entry: Pick<DeadLetterEntry, "stream" | "identity">,
  message: ReplayMessage,
): Promise<boolean> {
  const id = `replay-${digestKey(entry.identity)}`;
  const { stream, duplicate } = await store.publish(message.subject, message.body, republishedHeaders(message.headers), id);
  if (entry.stream !== null && stream !== entry.stream) {
    throw new DeadLetterError("another stream than the original one took the message; correct the subjects of the streams");
  }
  return !duplicate;
}

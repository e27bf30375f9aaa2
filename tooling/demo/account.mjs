import { createHash } from "node:crypto";

/** Digest by which a stored body is compared with the published one. */
export function digestOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The published body, rebuilt from what a record holds; the publishers of the demo write JSON without spaces. */
export function bodyOf({ payload }) {
  const wrapper = payload?._nats_sinks;
  if (wrapper === undefined) return Buffer.from(JSON.stringify(payload));
  return Buffer.from(payload.payload, wrapper.payload_encoding === "base64" ? "base64" : "utf8");
}

/**
 * Accounts for every published message. `published` maps stream sequences to body digests; `records` are the stored
 * records, `letters` the dead letters, both as read back. A stored record counts only when the body it holds is the published one.
 */
export function account(published, records, letters) {
  const stored = new Set();
  const wrong = [];
  let duplicates = 0;
  for (const record of records) {
    const sequence = record.stream_sequence;
    if (published.get(sequence) !== digestOf(bodyOf(record))) wrong.push(sequence);
    else if (stored.has(sequence)) duplicates += 1;
    else stored.add(sequence);
  }
  const deadLettered = new Set();
  for (const { stream_sequence: sequence } of letters) {
    if (!published.has(sequence)) wrong.push(sequence);
    else deadLettered.add(sequence);
  }
  const missing = [...published.keys()].filter((sequence) => !stored.has(sequence) && !deadLettered.has(sequence));
  return { published: published.size, stored: stored.size, deadLettered: deadLettered.size, duplicates, missing, wrong };
}

/** Everything that is wrong with the figures, one line each; empty when the run kept its promise. */
export function faultsOf(figures, expectedDeadLetters) {
  const faults = [];
  if (figures.missing.length > 0)
    faults.push(`${figures.missing.length} messages are missing, the first is sequence ${figures.missing[0]}`);
  if (figures.wrong.length > 0)
    faults.push(`${figures.wrong.length} records are not what was published, the first is sequence ${figures.wrong[0]}`);
  if (figures.deadLettered !== expectedDeadLetters)
    faults.push(`${figures.deadLettered} messages were dead-lettered instead of ${expectedDeadLetters}`);
  return faults;
}

/** What decides when a batch closes (FW-RUN-09). */
export interface BatcherSettings {
  readonly batchSize: number;
  readonly batchMaxBytes: number;
  readonly lingerMs: number;
}

/** What is buffered now: what may go into the next batch, and since when its first message waits. */
export interface Buffered {
  readonly messages: number;
  readonly bytes: number;
  /** Monotonic ms at which the oldest buffered message arrived. */
  readonly firstAt: number;
}

/** Close a batch now, look again at a time, or wait for a message or a free slot. */
export type BatcherDecision = { readonly kind: "close" } | { readonly kind: "look_at"; readonly at: number } | { readonly kind: "wait" };

const close: BatcherDecision = Object.freeze({ kind: "close" });
const wait: BatcherDecision = Object.freeze({ kind: "wait" });

/**
 * With a free slot a full buffer closes at once; a partial one waits until `lingerMs` after its first message, which is
 * at once without linger. With no free slot it grows. An empty batch is never closed; stopping closes a partial one.
 */
export function decideBatch(
  settings: BatcherSettings,
  buffered: Buffered,
  freeSlots: number,
  now: number,
  stopping: boolean,
): BatcherDecision {
  if (buffered.messages === 0 || freeSlots <= 0) return wait;
  if (stopping || buffered.messages >= settings.batchSize || buffered.bytes >= settings.batchMaxBytes) return close;
  const at = buffered.firstAt + settings.lingerMs;
  return now >= at ? close : { kind: "look_at", at };
}

/** True when a message of `bytes` still fits a batch that holds `count` messages of `total` bytes; the first always fits. */
export function fitsBatch(settings: BatcherSettings, count: number, total: number, bytes: number): boolean {
  if (count === 0) return true;
  return count < settings.batchSize && total + bytes <= settings.batchMaxBytes;
}

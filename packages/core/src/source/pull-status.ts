/** What a status message on a pull's inbox means for the pull (FW-RUN-08). */
export type PullStatus =
  /** The server is alive and has nothing for us. */
  | { readonly kind: "heartbeat" }
  /** The pull is over, with nothing wrong. */
  | { readonly kind: "ended" }
  /** The next message is larger than the bytes left. */
  | { readonly kind: "too_large" }
  /** The consumer or its limits refuse this pull; `limit` names the words of the server. */
  | { readonly kind: "refused"; readonly limit: string }
  /** The pinned id of this pull is no longer the current one. */
  | { readonly kind: "pin_lost" }
  /** Something about the consumer or its leader changed: check before the next settlement (FW-RUN-33). */
  | { readonly kind: "doubt"; readonly reason: string };

/** Reads a status by its code and, for 409, by the server's description. */
export function readPullStatus(code: number, description: string): PullStatus {
  if (code === 100) return { kind: "heartbeat" };
  if (code === 404 || code === 408) return { kind: "ended" };
  if (code === 423) return { kind: "pin_lost" };
  // A request the server does not understand, a missing priority group for one: asking again at once would spin.
  if (code === 400) return { kind: "refused", limit: description.toLowerCase() };
  if (code !== 409) return { kind: "doubt", reason: `status ${code}` };
  const text = description.toLowerCase();
  if (text.includes("message size exceeds")) return { kind: "too_large" };
  if (text.includes("batch completed")) return { kind: "ended" };
  if (text.startsWith("exceeded max")) return { kind: "refused", limit: text.slice("exceeded ".length) };
  return { kind: "doubt", reason: text };
}

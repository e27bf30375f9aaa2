import type { WriteOutcome } from "../connector/sink.js";
import { type ErrorKind, isErrorKind, type SinkError } from "../error/errors.js";

/** What the pipeline does with a message after an outcome; the words of the contract table (FW-ERR-01). */
export type Verdict =
  | { readonly kind: "stored" }
  /** Back to the waiting messages at once, no budget used. */
  | { readonly kind: "again" }
  /** The destination is away: back to waiting, the breaker opens (FW-RUN-19). */
  | { readonly kind: "unavailable"; readonly credentials: boolean }
  /** Try again after the policy's delay: in place, or by a nak with that delay. `failures` is the policy's step. */
  | { readonly kind: "retry"; readonly failures: number; readonly place: "in_place" | "nak" | "leave" }
  /** An unknown outcome that must not be repeated here: the stream delivers it again (WO-RT-11). */
  | { readonly kind: "redeliver"; readonly failures: number }
  | { readonly kind: "dead_letter"; readonly exhausted: boolean }
  | { readonly kind: "hold"; readonly exhausted: boolean }
  /** An operator pause (FW-RUN-38). */
  | { readonly kind: "pause"; readonly reason: "configuration" | "sink_contract" | "poison" }
  | { readonly kind: "discard" };

/** Facts of the message the verdict is about. */
export interface VerdictFacts {
  /** Budgeted failures so far, this one not counted. */
  readonly failures: number;
  readonly deliveryCount: number;
  /** True when the batch may be repeated after an unknown outcome (WO-RT-01). */
  readonly safe: boolean;
}

/** Policy, from configuration and the live consumer. */
export interface VerdictPolicy {
  readonly maxRetries: number;
  /** `max_deliver` of the live consumer; null when unlimited. */
  readonly maxDeliver: number | null;
  readonly ordered: boolean;
  readonly temporaryAction: "nak" | "leave_unacked";
  readonly exhaustedAction: "dead_letter" | "hold";
  readonly onUnknown: "redeliver" | "dead_letter" | "hold";
  readonly deadLetters: boolean;
  /** With dead letters off: what becomes of a permanent failure (FW-DLQ-08). */
  readonly whenDisabled: "hold" | "stop" | "discard";
  readonly onPoison: "dead_letter_and_continue" | "park_key" | "stop";
}

const stored: Verdict = Object.freeze({ kind: "stored" });
const again: Verdict = Object.freeze({ kind: "again" });

/** Failures that say nothing about how often the message itself may be tried. */
const unbudgeted = [
  "ConfigurationError",
  "SinkContractError",
  "DestinationUnavailableError",
  "CredentialsError",
  "NotAttemptedError",
  "PermanentSinkError",
  "RetryExhaustedError",
] as const satisfies readonly ErrorKind[];

/** True when the failure counts against the message's budget; whatever leads to a retry does, but what was never sent. */
export function isBudgeted(error: SinkError, facts: VerdictFacts, policy: VerdictPolicy): boolean {
  if (unbudgeted.some((kind) => isErrorKind(error, kind))) return false;
  return !isErrorKind(error, "UnknownOutcomeError") || facts.safe || policy.onUnknown === "redeliver";
}

/** The decision for one message, given its outcome. Pure: it neither waits nor sends. */
export function decideVerdict(outcome: WriteOutcome, facts: VerdictFacts, policy: VerdictPolicy): Verdict {
  if (outcome === null) return stored;
  if (isErrorKind(outcome, "ConfigurationError")) return { kind: "pause", reason: "configuration" };
  if (isErrorKind(outcome, "SinkContractError")) return { kind: "pause", reason: "sink_contract" };
  if (isErrorKind(outcome, "DestinationUnavailableError")) return { kind: "unavailable", credentials: false };
  if (isErrorKind(outcome, "CredentialsError")) return { kind: "unavailable", credentials: true };
  if (isErrorKind(outcome, "NotAttemptedError")) return again;
  if (isErrorKind(outcome, "PermanentSinkError")) return permanent(policy);
  if (isErrorKind(outcome, "RetryExhaustedError")) return exhausted(policy);
  if (isErrorKind(outcome, "UnknownOutcomeError") && !facts.safe) return unknown(facts, policy);
  return temporary(facts, policy);
}

function permanent(policy: VerdictPolicy): Verdict {
  if (policy.ordered && policy.onPoison === "stop") return { kind: "pause", reason: "poison" };
  if (policy.ordered && policy.onPoison === "park_key") return { kind: "hold", exhausted: false };
  if (policy.deadLetters) return { kind: "dead_letter", exhausted: false };
  if (policy.whenDisabled === "stop") return { kind: "pause", reason: "poison" };
  return policy.whenDisabled === "discard" ? { kind: "discard" } : { kind: "hold", exhausted: false };
}

function unknown(facts: VerdictFacts, policy: VerdictPolicy): Verdict {
  if (policy.onUnknown === "hold") return { kind: "hold", exhausted: false };
  if (policy.onUnknown === "dead_letter") return permanent(policy);
  if (isSpent(facts, policy)) return exhausted(policy);
  return { kind: "redeliver", failures: facts.failures + 1 };
}

function temporary(facts: VerdictFacts, policy: VerdictPolicy): Verdict {
  if (isSpent(facts, policy)) return exhausted(policy);
  const place = policy.ordered ? "in_place" : policy.temporaryAction === "leave_unacked" ? "leave" : "nak";
  return { kind: "retry", failures: facts.failures + 1, place };
}

/**
 * The budget is spent at `max_retries` + 1 failures, or when delivery `max_deliver` − 1 or a later one fails (FW-RUN-20).
 * So a last delivery is never given back: nothing would bring it again (FW-RUN-18).
 */
function isSpent(facts: VerdictFacts, policy: VerdictPolicy): boolean {
  if (facts.failures + 1 >= policy.maxRetries + 1) return true;
  return policy.maxDeliver !== null && facts.deliveryCount >= policy.maxDeliver - 1;
}

function exhausted(policy: VerdictPolicy): Verdict {
  const toDeadLetters = policy.deadLetters && policy.exhaustedAction === "dead_letter";
  return toDeadLetters ? { kind: "dead_letter", exhausted: true } : { kind: "hold", exhausted: true };
}

import type { SequenceNumber } from "../source/sequence.js";

/** What the server says of the consumer, and what is held here (FW-CLI-08). */
export interface OnceFacts {
  /** Last sequence of the stream when the run began; 0 for an empty stream, null when it cannot be read. */
  readonly goal: SequenceNumber | null;
  readonly ackFloor: SequenceNumber;
  readonly pending: number;
  readonly ackPending: number;
  /** Messages here that are neither settled nor held. */
  readonly unsettledHere: number;
  readonly heldHere: number;
  /** Last sequence the consumer has delivered. */
  readonly delivered: SequenceNumber;
  /** Up to the goal: messages here that are neither settled nor held, and held ones. */
  readonly unsettledToGoal: number;
  readonly heldToGoal: number;
}

/** Reached, still under way, ended by messages that only stay held, or waiting for leases of another process. */
export type OnceProgress = "reached" | "under_way" | "held" | "leased_elsewhere";

/**
 * A run is over when everything up to the goal was delivered and settled: the ack floor has passed it, or nothing is
 * pending and nothing unacknowledged. When all that is unacknowledged is held here, waiting longer changes nothing.
 */
export function onceProgress(facts: OnceFacts): OnceProgress {
  // The floor says nothing of messages that used up their deliveries and are held here: the server counts them no more.
  const settled = facts.unsettledToGoal === 0 && facts.heldToGoal === 0;
  if (facts.goal !== null && (facts.goal <= 0 || (facts.ackFloor >= facts.goal && settled))) return "reached";
  // Others may publish for ever: with all up to the goal delivered to us, only what stands at or below it counts.
  const all = facts.unsettledHere + facts.heldHere;
  const overGoal = facts.goal !== null && facts.delivered >= facts.goal && facts.ackPending <= all;
  if (overGoal && facts.unsettledToGoal === 0 && facts.heldToGoal > 0) return "held";
  if (facts.pending === 0 && facts.ackPending === 0 && facts.heldHere === 0) return facts.unsettledHere === 0 ? "reached" : "under_way";
  if (facts.unsettledHere > 0 || facts.pending > 0) return "under_way";
  return facts.ackPending > facts.heldHere ? "leased_elsewhere" : "held";
}

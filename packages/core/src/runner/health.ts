import type { SinksError } from "../error/errors.js";
import type { FetchFacts } from "../source/fetch-trouble.js";
import type { SequenceNumber } from "../source/sequence.js";
import { counted } from "./counted.js";

/** Facts that health is read from; nothing else makes a pipeline red. */
export interface HealthFacts {
  readonly connected: boolean;
  readonly missing: "stream" | "consumer" | null;
  /** What keeps a connected source from fetching. */
  readonly fetching: Omit<FetchFacts, "live">;
  /** The stream keeps messages only while a consumer wants them. */
  readonly interestOnly: boolean;
  /** How the consumer on the server differs from the configuration; null when it does not. */
  readonly drift: string | null;
  /** Why an operator pause holds the pipeline; null when none does. */
  readonly paused: string | null;
  /** The failure that opened the breaker; null while it is closed. */
  readonly breakerError: Pick<SinksError, "code" | "message"> | null;
  readonly held: number;
  readonly oldestHeld: SequenceNumber | null;
  /** Half of the consumer's window, or null when it is unlimited. */
  readonly heldLimit: number | null;
  readonly windowFull: boolean;
  readonly stuckWrites: number;
  /** Batches whose confirmation failed and is asked for again. */
  readonly unconfirmed: number;
  /** Dead letters whose publication failed and is tried again. */
  readonly failingDeadLetters: number;
  /** Pulls of all clients together are as many as the consumer takes. */
  readonly waitingFull: boolean;
  /** Time for which ordered lanes have waited for deliveries that others have, ms; 0 when they do not. */
  readonly orderWaitMs: number;
  /** How many deliveries they wait for. */
  readonly awaited: number;
  /** Another client pulls from an ordered consumer that cannot pin one. */
  readonly secondClient: boolean;
}

/** What ends an operator pause. */
export const pauseRemedy = "repair and restart, or send SIGHUP";

/** Heartbeats that may be missing before silence is told (FW-RUN-38). */
const heartbeatsMissed = 2;

/** Reasons of a red health, worst first; empty when all is well. */
export function healthReasons(facts: HealthFacts): readonly string[] {
  const reasons: string[] = [];
  if (facts.missing !== null) {
    const rest = facts.interestOnly ? "messages not yet fetched are gone with it" : "messages not yet fetched wait until it returns";
    reasons.push(`${facts.missing}_missing: the ${facts.missing} is gone; ${rest}`);
  }
  if (facts.drift !== null) reasons.push(`consumer_drift: ${facts.drift}; correct the consumer or the configuration`);
  if (facts.paused !== null) reasons.push(`paused: ${facts.paused}; ${pauseRemedy}`);
  if (!facts.connected) reasons.push("disconnected: no connection to NATS");
  else if (facts.missing === null) reasons.push(...sourceReasons(facts));
  if (facts.breakerError !== null) {
    const { code, message } = facts.breakerError;
    reasons.push(`destination_unavailable: messages are held and the destination is probed (${code}): ${message}`);
  }
  if (facts.stuckWrites > 0) reasons.push(`write_stuck: ${counted(facts.stuckWrites, "write", "writes")} did not end after the abort`);
  if (facts.heldLimit !== null && facts.held > 0 && facts.held >= facts.heldLimit) {
    reasons.push(`held_limit: ${counted(facts.held, "message is held", "messages are held")}, the oldest at sequence ${facts.oldestHeld}`);
  }
  if (facts.unconfirmed > 0)
    reasons.push(
      `acks_unconfirmed: ${counted(facts.unconfirmed, "batch is stored and is", "batches are stored and are")} acknowledged again`,
    );
  if (facts.failingDeadLetters > 0) {
    reasons.push(
      `dead_letter_failed: ${counted(facts.failingDeadLetters, "dead letter", "dead letters")} cannot be published; what is not published is kept`,
    );
  }
  if (facts.secondClient) reasons.push("second_client: another client pulls from this ordered consumer; stop one of the two");
  if (facts.windowFull) reasons.push("window_full: max_ack_pending is reached with messages waiting");
  return reasons;
}

/** Silence is not idleness: a server with nothing to deliver says so, heartbeat by heartbeat (FW-RUN-06). */
function sourceReasons({ fetching, waitingFull, orderWaitMs, awaited }: HealthFacts): readonly string[] {
  const { silentMs, doubtMs, heartbeatMs, refusal } = fetching;
  const reasons: string[] = [];
  if (silentMs >= heartbeatsMissed * heartbeatMs) {
    const remedy = waitingFull ? "max_waiting is used up: stop other clients, or raise it" : "look at the connection and the right to pull";
    reasons.push(`silent: no pull was answered for ${Math.round(silentMs)} ms; ${remedy}`);
  }
  if (doubtMs >= heartbeatsMissed * heartbeatMs) {
    reasons.push(
      `unverified: the server did not tell of stream and consumer for ${Math.round(doubtMs)} ms; nothing is settled until it does`,
    );
  }
  if (orderWaitMs >= heartbeatsMissed * heartbeatMs && awaited > 0) {
    const what = counted(awaited, "delivery that is", "deliveries that are");
    reasons.push(`order_waits: for ${what} not here and must come first; they come again when their leases end, or stop who has them`);
  }
  if (refusal !== null)
    reasons.push(`pull_refused: the server refuses pulls (${refusal}); raise the limit, grant the right, or stop other clients`);
  return reasons;
}

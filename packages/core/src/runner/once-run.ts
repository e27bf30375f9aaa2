import type { Clock } from "./clock.js";
import type { ConsumerWatch } from "./consumer-watch.js";
import { counted } from "./counted.js";
import type { Flight } from "./flight.js";
import { onceProgress } from "./once-goal.js";
import { type ConsumerDeadlines, longestDeadline } from "./pipeline-settings.js";

/** Time beyond the longest deadline that leases of others are given, ms. */
const slackMs = 2000;

/** What a run with an end is judged by. */
export interface OnceParts {
  /** Last sequence of the stream at start; null when it cannot be read. */
  readonly goal: number | null;
  readonly flight: Flight;
  readonly watch: ConsumerWatch;
  readonly deadlines: ConsumerDeadlines;
  readonly pausedReason: () => string | null;
  /** True while it is not known whether messages were left behind by an earlier process (FW-RUN-21). */
  readonly recovering: () => boolean;
}

/** Not yet, or the end with the reason why the goal was not reached; a null reason is success. */
export type OnceEnd = { readonly ended: false } | { readonly ended: true; readonly reason: string | null };

const notYet: OnceEnd = Object.freeze({ ended: false });

/** Decides after each reading of the consumer whether a run with an end is over (FW-CLI-08). */
export class OnceRun {
  readonly #parts: OnceParts;
  readonly #clock: Clock;
  #othersSince: number | null = null;

  constructor(parts: OnceParts, clock: Clock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  look(): OnceEnd {
    const { goal, flight, watch, pausedReason, recovering } = this.#parts;
    const paused = pausedReason();
    if (paused !== null) return { ended: true, reason: `paused: ${paused}` };
    const info = watch.newest;
    if (info === null || recovering()) return notYet;
    const progress = onceProgress({
      goal,
      ackFloor: info.ack_floor.stream_seq,
      pending: info.num_pending,
      ackPending: info.num_ack_pending,
      unsettledHere: flight.messages + flight.givenBack,
      heldHere: flight.held,
      delivered: info.delivered.stream_seq,
      ...upToGoal(flight, goal),
    });
    if (progress === "leased_elsewhere") return this.#othersEnd(info.num_ack_pending - flight.held);
    this.#othersSince = null;
    if (progress === "under_way") return notYet;
    return {
      ended: true,
      reason:
        progress === "held"
          ? `${counted(flight.held, "message is held", "messages are held")}, the oldest at sequence ${flight.oldestHeld}`
          : null,
    };
  }

  /** Leases of others are awaited for the longest deadline; what stays with them then is not ours to end. */
  #othersEnd(count: number): OnceEnd {
    const now = this.#clock.now();
    this.#othersSince ??= now;
    if (now - this.#othersSince <= longestDeadline(this.#parts.deadlines) + slackMs) return notYet;
    return { ended: true, reason: `${counted(count, "message stays", "messages stay")} with another process; stop it, or run again later` };
  }
}

function upToGoal(flight: Flight, goal: number | null): { readonly unsettledToGoal: number; readonly heldToGoal: number } {
  let unsettledToGoal = flight.givenBack;
  let heldToGoal = 0;
  for (const { sequence, state } of flight.entries()) {
    if (goal === null || sequence > goal) continue;
    if (state === "held") heldToGoal += 1;
    else unsettledToGoal += 1;
  }
  return { unsettledToGoal, heldToGoal };
}

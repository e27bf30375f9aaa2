import { isErrorKind, type WriteContext, type WriteOutcome } from "@sinks/core";

/** The place of one message in the order of its lane and of its path. */
export interface Turn {
  /** Resolves when everything before it in its lane, and everything before it at its path, has ended. */
  readonly ready: Promise<unknown>;
  /** False when an earlier failure of the lane holds it back; ask when `ready` has resolved. */
  mayGo(): boolean;
  /** Ends the turn; must be called once. */
  end(outcome: WriteOutcome): void;
}

interface Lane {
  last: Promise<void>;
  stopped: boolean;
}

const nothingBefore = Promise.resolve();

/**
 * Order inside a batch whose messages are written concurrently (FW-RUN-35). Turns are taken in the batch's order. A turn
 * waits for earlier ones only, so they always come to an end.
 */
export class LaneTurns {
  readonly #context: WriteContext;
  readonly #lanes = new Map<number, Lane>();
  readonly #paths = new Map<string, Promise<void>>();

  constructor(context: WriteContext) {
    this.#context = context;
  }

  /** Takes the turn of the message at `index`; `path` is where it goes, null when that could not be found out. */
  take(index: number, path: string | null): Turn {
    const lane = this.#context.ordered ? this.#laneOf(this.#context.lanes?.[index] ?? 0) : null;
    const before = [lane?.last ?? nothingBefore, (path !== null && this.#paths.get(path)) || nothingBefore];
    let finish: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    if (lane !== null) lane.last = ended;
    if (path !== null) this.#paths.set(path, ended);
    return {
      ready: Promise.all(before),
      mayGo: () => lane === null || !lane.stopped,
      end: (outcome) => {
        if (lane !== null && outcome !== null && this.#stops(outcome)) lane.stopped = true;
        finish();
      },
    };
  }

  #laneOf(number: number): Lane {
    let lane = this.#lanes.get(number);
    if (lane === undefined) {
      lane = { last: nothingBefore, stopped: false };
      this.#lanes.set(number, lane);
    }
    return lane;
  }

  /** After a permanent failure a lane goes on only under `dead_letter_and_continue` (FW-RUN-36). */
  #stops(outcome: NonNullable<WriteOutcome>): boolean {
    return this.#context.onPoison !== "dead_letter_and_continue" || !isErrorKind(outcome, "PermanentSinkError");
  }
}

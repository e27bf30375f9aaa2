/** How a fake clock begins. */
export interface FakeClockOptions {
  /** True to run along with the real time; otherwise it stands still until `advance`. */
  readonly runs?: boolean;
  /** Wall clock at the start, ms since the Unix epoch; the real one when it runs, else 2026-01-01. */
  readonly wallMs?: number;
  /** What `random` answers; 0.5 by default. */
  readonly random?: () => number;
}

/**
 * A clock to hand to `createRunner` or to a connector: a monotonic time that only goes forward, and a wall clock that may
 * be set. It has the shape of the runner's clock and starts no timer: what sleeps, sleeps in real time.
 */
export interface FakeClock {
  /** Monotonic time in whole ms. */
  now(): number;
  /** Wall clock, ns since the Unix epoch. */
  nowNs(): bigint;
  random(): number;
  /** Time passes for both clocks, as over a suspended machine. Refuses to go back. */
  advance(milliseconds: number): void;
  /** The wall clock is set by so many ms, forth or back; the monotonic one goes on as if nothing was. */
  jump(milliseconds: number): void;
}

const newYear = Date.UTC(2026, 0, 1);

/** Makes a fake clock. */
export function createFakeClock(options: FakeClockOptions = {}): FakeClock {
  const startedAt = performance.now();
  const passed = options.runs === true ? () => performance.now() - startedAt : () => 0;
  const wall = options.wallMs ?? (options.runs === true ? Date.now() : newYear);
  let advanced = 0;
  let jumped = 0;
  const elapsed = () => Math.trunc(passed() + advanced);
  return {
    now: elapsed,
    nowNs: () => BigInt(Math.trunc(wall + elapsed() + jumped)) * 1_000_000n,
    random: options.random ?? (() => 0.5),
    advance(milliseconds) {
      if (!(milliseconds >= 0)) throw new RangeError("a monotonic clock does not go back; jump sets the wall clock");
      advanced += milliseconds;
    },
    jump(milliseconds) {
      jumped += milliseconds;
    },
  };
}

const pointVariable = "SINKS_KILL_AT";

/** A named point in a program at which it dies, and at which visit of it. */
export interface KillAt {
  readonly point: string;
  /** 1 for the first time the point is reached, which is the default. */
  readonly visit?: number;
}

/** The points of a program that a fault test may kill. */
export interface FaultPoints {
  /** Ends the process at once by SIGKILL when this is the point and the visit it was told to die at; else does nothing. */
  reach(point: string): void;
}

/** The environment that makes a program die at a point; `startVictim({ killAt })` sets it. */
export function killAtEnvironment({ point, visit = 1 }: KillAt): Readonly<Record<string, string>> {
  return { [pointVariable]: `${visit}:${point}` };
}

/**
 * Named points for a program under test, a sink of one for example: `points.reach("after the commit")`. Nothing that was
 * to happen after the point happens, not even in another turn of the loop. Give it `process.env`.
 */
export function faultPoints(
  environment: Readonly<Record<string, string | undefined>>,
  die: () => void = () => process.kill(process.pid, "SIGKILL"),
): FaultPoints {
  const told = environment[pointVariable] ?? "";
  const split = told.indexOf(":");
  const wanted = { visit: Number(told.slice(0, split)), point: told.slice(split + 1) };
  let visits = 0;
  return {
    reach(point) {
      if (split === -1 || point !== wanted.point) return;
      visits += 1;
      if (visits === wanted.visit) die();
    },
  };
}

/** A stream that lets go of nothing by itself. */
export const noLimits = {
  maximumAgeMs: 0,
  maximumMessages: 0,
  maximumBytes: 0,
  maximumPerSubject: 0,
  refusesNew: false,
  refusesNewPerSubject: false,
  messageTtl: false,
  rollup: false,
} as const;

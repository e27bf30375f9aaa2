/** The middle value; of an even number of values the mean of the middle two. */
export function median(values) {
  const sorted = [...values].sort((one, two) => one - two);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median and spread. */
export function spread(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * Order of the arms in a round. Each round starts with the next arm, so that a machine that slows down or speeds up
 * does not favour one.
 */
export function orderOfRound(arms, round) {
  const start = round % arms.length;
  return [...arms.slice(start), ...arms.slice(0, start)];
}

/**
 * Compares arms over rounds. `rounds` holds one record of measurements per round, by arm; a ratio is taken within a
 * round only, since the machine differs from one round to the next more than arms do.
 */
export function compare(rounds, arm, baseline) {
  const rates = rounds.map((round) => round[arm].messages / round[arm].seconds);
  return {
    ratio: spread(rounds.map((round, index) => rates[index] / (round[baseline].messages / round[baseline].seconds))),
    messagesPerSecond: spread(rates),
    microsecondsPerMessage: spread(rounds.map((round) => round[arm].cpuMicroseconds / round[arm].messages)),
  };
}

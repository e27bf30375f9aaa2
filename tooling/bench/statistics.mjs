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
 * Order of the arms in a round: every other round backwards, and each pair of rounds starts with another arm. Over twice
 * as many rounds as there are arms, every arm stands in every place equally often; with three arms it also follows every
 * other one equally often, so that what one leaves behind in the server favours none.
 */
export function orderOfRound(arms, round) {
  const start = Math.floor(round / 2) % arms.length;
  const order = [...arms.slice(start), ...arms.slice(0, start)];
  return round % 2 === 0 ? order : order.reverse();
}

/**
 * Compares an arm with the baselines over rounds. `rounds` holds one record of measurements per round, by arm. A ratio is
 * taken within a round only, since the machine differs from one round to the next more than arms do; it is to the mean
 * rate of the baselines.
 */
export function compare(rounds, arm, baselines) {
  const rateOf = ({ messages, seconds }) => messages / seconds;
  const ratios = rounds.map((round) => {
    const base = baselines.map((name) => rateOf(round[name]));
    return rateOf(round[arm]) / (base.reduce((sum, rate) => sum + rate, 0) / base.length);
  });
  return {
    ratio: spread(ratios),
    messagesPerSecond: spread(rounds.map((round) => rateOf(round[arm]))),
    microsecondsPerMessage: spread(rounds.map((round) => round[arm].cpuMicroseconds / round[arm].messages)),
  };
}

import { runArm } from "./child.mjs";

/** Seconds until the window is full and the engine's heap has found its size. */
const settleSeconds = 5;

/** Runs the slow sink over the backlog and answers how the memory of its process went. */
export async function measureMemory({ url, folder, size, messagesPerSecond }) {
  const settings = {
    url,
    stream: "backlog",
    consumer: "slow",
    folder,
    count: size.backlog,
    seconds: size.memorySeconds,
    messagesPerSecond,
  };
  const { samples, rate, stored, reported, unread, unsettled } = await runArm("slow-sink", settings);
  const accounted = reported + unread + unsettled;
  if (stored !== reported || accounted !== size.backlog) {
    throw new Error(
      `the slow sink stored ${stored} and the runner reports ${reported}; ${accounted} of ${size.backlog} messages are accounted for`,
    );
  }
  return { backlog: size.backlog, messagesPerSecond: rate, stored, ...summarize(samples) };
}

/** Memory once things have settled, its largest value, and the last one, in MiB. */
export function summarize(samples) {
  const settled = samples.filter(({ seconds }) => seconds >= settleSeconds).map(({ megabytes }) => megabytes);
  const [first] = settled;
  const max = Math.max(...settled);
  return {
    seconds: samples.at(-1).seconds,
    settledMegabytes: first,
    maxMegabytes: max,
    lastMegabytes: settled.at(-1),
    growth: max / first,
  };
}

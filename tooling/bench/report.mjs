const number = (value) => Math.round(value).toLocaleString("en-US");
const ratio = ({ median, min, max }) => `${median.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})`;
const row = (cells) => `| ${cells.join(" | ")} |`;

/** The report as Markdown, so that it can be read here and pasted into a document. */
export function reportText({ machine, rounds, comparisons, latency, memory }) {
  const lines = [
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}; Node ${machine.node}, nats-server ${machine.nats}, PostgreSQL ${machine.postgres};`,
    `load at start ${machine.loadAtStart}. ${rounds} interleaved rounds; ratios as median (smallest to largest).`,
    "",
  ];
  for (const { name, target, messages, arms } of comparisons) {
    lines.push(
      `### ${name}`,
      "",
      `${number(messages)} messages.`,
      "",
      row(["arm", "ratio to the first", "messages/s", "CPU µs per message"]),
      row(["---", "---", "---", "---"]),
    );
    for (const [arm, figures] of Object.entries(arms)) {
      lines.push(
        row([arm, ratio(figures.ratio), number(figures.messagesPerSecond.median), figures.microsecondsPerMessage.median.toFixed(1)]),
      );
    }
    if (target !== null) lines.push("", verdict(target, Object.values(arms).at(-1).ratio.median));
    lines.push("");
  }
  lines.push(
    "### From publishing to durable in PostgreSQL",
    "",
    `${number(latency.messages)} messages at ${number(latency.messagesPerSecond)} per second: half within ${latency.p50.toFixed(1)} ms, ` +
      `99 % within ${latency.p99.toFixed(1)} ms, the slowest after ${latency.max.toFixed(1)} ms. ` +
      `Target for 99 %: ${latency.target} ms, ${latency.p99 <= latency.target ? "reached" : "not reached"}.`,
    "",
    "### Memory with a sink ten times too slow",
    "",
    `${number(memory.backlog)} messages waiting, ${number(memory.messagesPerSecond)} stored per second for ${memory.seconds.toFixed(0)} s: ` +
      `${number(memory.settledMegabytes)} MiB once settled, at most ${number(memory.maxMegabytes)} MiB, ${number(memory.lastMegabytes)} MiB at the end.`,
  );
  return lines.join("\n");
}

function verdict(target, reached) {
  return `Target ${target.toFixed(2)}: ${reached >= target ? "reached" : "not reached"}.`;
}

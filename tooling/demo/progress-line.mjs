const width = 28;

/** Shows how far a step is: one line that renews itself on a terminal, a few lines elsewhere. */
export function progressLine(output, label, total) {
  let lastQuarter = -1;
  return {
    show(done) {
      const part = Math.min(1, done / total);
      const bar = "█".repeat(Math.round(part * width)).padEnd(width, "░");
      const text = `${label.padEnd(22)} ${bar} ${String(done).padStart(6)} of ${total}`;
      if (output.isTTY) output.write(`\r${text}`);
      else if (Math.floor(part * 4) !== lastQuarter) {
        lastQuarter = Math.floor(part * 4);
        output.write(`${text}\n`);
      }
    },
    end(remark) {
      output.write(output.isTTY ? `  ${remark}\n` : `${" ".repeat(22)} ${remark}\n`);
    },
  };
}

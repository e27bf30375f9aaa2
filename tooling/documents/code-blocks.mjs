/** Fenced code blocks of a Markdown text: `{ language, code, line }`, the line being that of the first line of code. */
export function codeBlocks(text) {
  const blocks = [];
  let open = null;
  text.split("\n").forEach((line, index) => {
    const fence = /^(\s*)(`{3,}|~{3,})\s*([\w-]*)/.exec(line);
    if (open === null && fence !== null) open = { fence: fence[2], indent: fence[1], language: fence[3], line: index + 2, lines: [] };
    else if (open !== null && line.trim() === open.fence) {
      blocks.push({ language: open.language, code: `${open.lines.join("\n")}\n`, line: open.line });
      open = null;
    } else open?.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
  });
  return blocks;
}

/** True for a block that shows a whole configuration, which must then be a valid one. */
export function isConfiguration({ language, code }) {
  if (language === "yaml") return /^nats:/m.test(code) && /^sink:/m.test(code);
  return language === "json" && /^ {0,4}"nats":/m.test(code) && /^ {0,4}"sink":/m.test(code);
}

/** True for a block of TypeScript that stands on its own, which must then compile. */
export function isProgram({ language, code }) {
  return (language === "ts" || language === "typescript") && /^import /m.test(code);
}

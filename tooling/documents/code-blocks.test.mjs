import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { codeBlocks, isConfiguration, isProgram } from "./code-blocks.mjs";
import { compile } from "./compile.mjs";

test("code blocks come with language and line, also indented and with longer fences", () => {
  const text = "a\n```yaml\nnats: 1\n```\n- b\n  ```ts\n  let a;\n  ```\n````md\n```\nx\n```\n````\n";
  expect(codeBlocks(text)).toEqual([
    { language: "yaml", code: "nats: 1\n", line: 3 },
    { language: "ts", code: "let a;\n", line: 7 },
    { language: "md", code: "```\nx\n```\n", line: 10 },
  ]);
});

test.each([
  ["yaml", "nats:\n  stream: A\nsink:\n  type: file\n", true],
  ["yaml", "sink:\n  type: file\n", false],
  ["json", '{\n  "nats": {},\n  "sink": {}\n}\n', true],
  ["json", '{ "sequence": 1 }\n', false],
  ["text", "nats:\nsink:\n", false],
])("a whole configuration is recognised in %s %j", (language, code, expected) => {
  expect(isConfiguration({ language, code })).toBe(expected);
});

test("only TypeScript with imports is a program", () => {
  expect(isProgram({ language: "ts", code: 'import { a } from "a";\n' })).toBe(true);
  expect(isProgram({ language: "ts", code: "interface Sink {}\n" })).toBe(false);
  expect(isProgram({ language: "sh", code: "import a\n" })).toBe(false);
});

test("an error in a program is told with its place in the document", () => {
  const tooling = resolve(import.meta.dirname, "..");
  const program = (code) => ({ origin: "README.md", line: 10, code });
  const errors = compile(
    [program(`import { join } from "node:path";\n\nconst a: number = join("a");\n`)],
    tooling,
    join(tooling, "tsconfig.json"),
  );
  expect(errors).toEqual(["README.md:12 Type 'string' is not assignable to type 'number'."]);
  expect(compile([program(`import { join } from "node:path";\n\njoin("a");\n`)], tooling, join(tooling, "tsconfig.json"))).toEqual([]);
});

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../src/eventually.js";
import { startVictim } from "../src/fault/victim.js";
import { processState } from "../src/service/process-state.js";
import { compileSources } from "./compiled-source.js";

const node = (program: string) => ({ command: process.execPath, args: ["-e", program] });
const endless = "let n = 0; setInterval(() => console.log(n++), 5);";

test("is killed once a condition holds, and its output is kept", async () => {
  await using victim = await startVictim(node(endless));
  const exit = await victim.killWhen(() => victim.output.includes("3\n"), { deadlineMs: 10_000, what: "the third line" });
  expect(exit).toEqual({ code: null, signal: "SIGKILL" });
  expect(victim.output.startsWith("0\n1\n2\n3\n")).toBe(true);
  expect(victim.isRunning()).toBe(false);
  expect(processState(victim.pid)).toBe("gone");
});

test("a victim that ends first is told from one that was killed", async () => {
  await using victim = await startVictim(node("console.error('over'); process.exitCode = 3"));
  await expect(victim.killWhen(() => false, { deadlineMs: 10_000, what: "never" })).rejects.toThrow("the process ended before never");
  expect(await victim.exited).toEqual({ code: 3, signal: null });
  expect(victim.diagnostics).toBe("over\n");
});

test("is killed after a time, and by dispose", async () => {
  const victim = await startVictim(node(endless));
  expect(await victim.killAfter(20)).toEqual({ code: null, signal: "SIGKILL" });
  const other = await startVictim(node(endless));
  await other[Symbol.asyncDispose]();
  expect(processState(other.pid)).toBe("gone");
});

test("takes signals and a place and environment of its own", async () => {
  const program =
    "process.on('SIGTERM', () => { console.log(process.cwd(), process.env.WORD); process.exit(0) }); console.log('up'); setInterval(() => {}, 1000)";
  await using victim = await startVictim({ ...node(program), directory: "/", environment: { WORD: "here" } });
  await eventually(() => victim.output === "up\n", { deadlineMs: 10_000, what: "the start" });
  victim.signal("SIGTERM");
  expect(await victim.exited).toEqual({ code: 0, signal: null });
  expect(victim.output).toBe("up\n/ here\n");
});

test("dies at a named point, at the visit that was asked for, and nothing after it happens", async () => {
  using sources = compileSources();
  const program = `
    const { faultPoints } = await import(${JSON.stringify(pathToFileURL(join(sources.folder, "faults.js")).href)});
    const { writeSync } = await import("node:fs");
    const points = faultPoints(process.env);
    for (let n = 1; n <= 5; n += 1) { writeSync(1, n + "\\n"); points.reach("written"); }`;
  await using victim = await startVictim({
    command: process.execPath,
    args: ["--input-type=module", "-e", program],
    killAt: { point: "written", visit: 3 },
  });
  expect(await victim.exited).toEqual({ code: null, signal: "SIGKILL" });
  expect(victim.output).toBe("1\n2\n3\n");
});

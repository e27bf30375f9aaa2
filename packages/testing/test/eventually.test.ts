import { expect, test } from "vitest";
import { eventually } from "../src/eventually.js";

test("resolves with the first truthy answer", async () => {
  let looks = 0;
  const thirdTime = () => {
    looks += 1;
    return looks >= 3 && `after ${looks}`;
  };
  expect(await eventually(thirdTime, { deadlineMs: 5_000, what: "three looks", intervalMs: 1 })).toBe("after 3");
});

test("an error counts as not yet, and is told when the deadline passes", async () => {
  let looks = 0;
  const flaky = () => {
    looks += 1;
    if (looks < 3) throw new Error("not there");
    return true;
  };
  expect(await eventually(flaky, { deadlineMs: 5_000, what: "recovery", intervalMs: 1 })).toBe(true);
  const never = () => Promise.reject(new Error("connection refused"));
  await expect(eventually(never, { deadlineMs: 5, what: "the server", intervalMs: 1 })).rejects.toThrow(
    "gave up waiting for the server after 5 ms (last error: connection refused)",
  );
});

test("the last answer is told when the deadline passes", async () => {
  await expect(eventually(() => 0, { deadlineMs: 2, what: "rows", intervalMs: 1 })).rejects.toThrow(
    "gave up waiting for rows after 2 ms (last answer: 0)",
  );
});

test("a signal ends the wait", async () => {
  const controller = new AbortController();
  const waiting = eventually(() => false, { deadlineMs: 60_000, what: "nothing", intervalMs: 30_000, signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

import { describe, expect, it } from "vitest";
import { courseOf } from "../src/execute/failure-course.js";

const courseOfCode = (code: string | null, error: object = {}) =>
  courseOf({ kind: "server", code, sent: 1, error: { code, severity: "ERROR", ...error } });

describe("the course of a failure", () => {
  it.each([
    ["22P02", "isolate"],
    ["23505", "isolate"],
    ["23503", "parent_missing"],
    ["21000", "repeated_key"],
    ["42P01", "schema"],
    ["42501", "denied"],
    ["40P01", "repeat"],
    ["XX000", "repeat"],
    ["55P03", "timed_out"],
    ["57014", "timed_out"],
    ["26000", "stale_plan"],
    ["53100", "unavailable"],
    ["3D000", "unavailable"],
    ["28P01", "credentials"],
    ["40003", "lost"],
    ["57P01", "lost"],
    [null, "repeat"],
  ])("WO-ERR-01 WO-PG-28 WO-PG-29 %s: %s", (code, course) => {
    expect(courseOfCode(code)).toBe(course);
  });

  it("WO-ERR-06 WO-PG-33 the server's routine tells a cached plan and row-level security apart", () => {
    expect(courseOfCode("0A000", { routine: "RevalidateCachedQuery" })).toBe("stale_plan");
    expect(courseOfCode("42501", { routine: "ExecWithCheckOptions" })).toBe("isolate");
  });

  it("WO-ERR-02 a lost connection is lost whatever its last word was", () => {
    expect(courseOf({ kind: "lost", code: "57014", sent: 1, error: null })).toBe("lost");
    expect(courseOfCode("22P02", { severity: "FATAL" })).toBe("lost");
  });
});

import { describe, expect, it } from "vitest";
import { courseOf } from "../src/failure-course.js";

describe("the course of a failure", () => {
  it.each([
    ["21000", "repeated_key"],
    ["22001", "isolate"],
    ["22P02", "isolate"],
    ["23502", "isolate"],
    ["23503", "parent_missing"],
    ["23505", "isolate"],
    ["23514", "isolate"],
    ["44000", "isolate"],
    ["P0001", "isolate"],
    ["54000", "isolate"],
    ["54001", "isolate"],
    ["0A000", "isolate"],
    ["42P01", "schema"],
    ["42703", "schema"],
    ["42P10", "schema"],
    ["3F000", "schema"],
    ["55000", "schema"],
    ["42501", "denied"],
    ["40001", "repeat"],
    ["40P01", "repeat"],
    ["55006", "repeat"],
    ["55P03", "timed_out"],
    ["57014", "timed_out"],
    ["26000", "stale_plan"],
    ["25006", "unavailable"],
    ["53100", "unavailable"],
    ["53300", "unavailable"],
    ["57P03", "unavailable"],
    ["08001", "unavailable"],
    ["08004", "unavailable"],
    ["3D000", "unavailable"],
    ["28P01", "credentials"],
    ["08000", "lost"],
    ["08006", "lost"],
    ["08007", "lost"],
    ["08P01", "lost"],
    ["40003", "lost"],
    ["57P01", "lost"],
    ["57P02", "lost"],
    ["57P04", "lost"],
    ["57P05", "lost"],
    ["25P03", "lost"],
  ])("WO-ERR-01 WO-ERR-04 %s: %s", (code, course) => {
    expect(courseOf({ code, routine: null })).toBe(course);
  });

  it("WO-ERR-01 a code that nobody listed may pass, whatever its class", () => {
    for (const code of ["XX000", "58030", "P0002", "40000", "25P02", "55P02", "ZZ999"]) {
      expect(courseOf({ code, routine: null })).toBe("repeat");
    }
    expect(courseOf({ code: null, routine: null })).toBe("repeat");
  });

  it("WO-ERR-04 WO-ERR-06 WO-PG-33 the server's routine tells a cached plan and row-level security apart", () => {
    expect(courseOf({ code: "0A000", routine: "RevalidateCachedQuery" })).toBe("stale_plan");
    expect(courseOf({ code: "42501", routine: "ExecWithCheckOptions" })).toBe("isolate");
    expect(courseOf({ code: "42501", routine: "aclcheck_error" })).toBe("denied");
  });
});

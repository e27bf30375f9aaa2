/**
 * What the execution of a batch does about a failure:
 * - `isolate`, `parent_missing`, `denied`: a message raises it by itself; it is found by isolation (WO-PG-27, WO-ERR-06).
 * - `repeat`, `timed_out`: may pass; the same work once more, then isolation in transactions (WO-PG-29).
 * - `repeated_key`: rows that are one key to the database; the statement is halved (WO-PG-23).
 * - `stale_plan`: a plan of the connection is out of date; the same work once more, at once (WO-PG-33).
 * - `schema`: names from configuration that the database lacks, an outage (WO-ERR-05).
 * - `unavailable`, `credentials`: nobody's fault here; everything waits.
 * - `lost`: the connection; whether anything was applied depends on what was sent (WO-PG-28).
 */
export type Course =
  | "isolate"
  | "parent_missing"
  | "denied"
  | "repeat"
  | "timed_out"
  | "repeated_key"
  | "stale_plan"
  | "schema"
  | "unavailable"
  | "credentials"
  | "lost";

/** By SQLSTATE or its class; a code beats its class (WO-ERR-04). */
const courses: ReadonlyMap<string, Course> = new Map<string, Course>([
  ["08", "lost"],
  ["08001", "unavailable"],
  ["08004", "unavailable"],
  ["0A", "isolate"],
  ["21000", "repeated_key"],
  ["22", "isolate"],
  ["23", "isolate"],
  ["23503", "parent_missing"],
  ["25006", "unavailable"],
  ["25P03", "lost"],
  ["26000", "stale_plan"],
  ["28", "credentials"],
  ["3D000", "unavailable"],
  ["3F000", "schema"],
  ["40001", "repeat"],
  ["40003", "lost"],
  ["40P01", "repeat"],
  ["42", "schema"],
  ["42501", "denied"],
  ["44000", "isolate"],
  ["53", "unavailable"],
  ["54", "isolate"],
  ["55000", "schema"],
  ["55P03", "timed_out"],
  ["57014", "timed_out"],
  ["57P01", "lost"],
  ["57P02", "lost"],
  ["57P03", "unavailable"],
  ["57P04", "lost"],
  ["57P05", "lost"],
  ["P0001", "isolate"],
]);

/** What the server said of a failure besides its code. */
export interface ServerFault {
  readonly code: string | null;
  /** Routine of the server that raised it. */
  readonly routine: string | null;
}

/** The course for a server's error; a code that nobody listed may pass (WO-ERR-01). */
export function courseOf({ code, routine }: ServerFault): Course {
  if (code === null) return "repeat";
  if (code === "0A000" && routine === "RevalidateCachedQuery") return "stale_plan";
  if (code === "42501" && routine === "ExecWithCheckOptions") return "isolate";
  return courses.get(code) ?? courses.get(code.slice(0, 2)) ?? "repeat";
}

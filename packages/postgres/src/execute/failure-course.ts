import type { SessionFailure } from "../connection/session.js";
import { type Verdict, verdictOf } from "../errors.js";

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

const courses: Readonly<Record<Verdict, Course>> = {
  permanent: "isolate",
  halve: "repeated_key",
  parent_missing: "parent_missing",
  temporary: "repeat",
  stale_plan: "stale_plan",
  unavailable: "unavailable",
  schema: "schema",
  right: "denied",
  credentials: "credentials",
  configuration: "unavailable",
  lost: "lost",
};

/** Ended by a limit of ours: by the lock it waits for, or by its own length. */
const timeouts: ReadonlySet<string | null> = new Set(["55P03", "57014"]);

/** The course that the verdict on a failure asks for. */
export function courseOf(failure: SessionFailure): Course {
  const course = courses[verdictOf(failure)];
  return course === "repeat" && timeouts.has(failure.code) ? "timed_out" : course;
}

import type { Configuration } from "../config/schema.js";
import { subjectContains, subjectsOverlap } from "../config/subject-grammar.js";
import type { Check } from "../connector/preflight.js";
import { apiPrefix } from "../source/connection.js";
import { filterSubjects } from "../source/consumer-settings.js";
import type { Answer } from "../source/examination.js";
import { requestSubject } from "../source/login-rights.js";
import type { StreamState } from "../source/stream-audit.js";
import { failed, passed, skipped, warned } from "./finding.js";

/** The stream is there and may be read (FW-CLI-06, FW-RUN-32). */
export function streamCheck({ nats, idempotency }: Configuration, stream: Answer<StreamState>): Check {
  const id = "stream";
  switch (stream.kind) {
    case "answer":
      return passed(id, `stream "${nats.stream}" has ${stream.value.state.messages} messages`);
    case "missing":
      return failed(id, `there is no stream "${nats.stream}"`, "create it, or correct nats.stream");
    case "denied": {
      const message = `the login may not read stream "${nats.stream}", whose creation time is part of every key`;
      const remedy = `allow publishing to ${requestSubject(apiPrefix(nats), `STREAM.INFO.${nats.stream}`)}`;
      return idempotency.allow_unknown_incarnation ? warned(id, message, remedy) : failed(id, message, remedy);
    }
    case "silent":
      return failed(
        id,
        `the server does not answer for stream "${nats.stream}" (${stream.reason})`,
        "is JetStream enabled, and has it a leader?",
      );
  }
}

/** What the consumer filters for is what the stream takes. */
export function subjectCheck(configuration: Configuration, stream: Answer<StreamState>): Check {
  const id = "stream.subject";
  if (stream.kind !== "answer") return skipped(id, "the stream was not read");
  const { subjects = [], subject_transform: transform, mirror, sources } = stream.value.config;
  if (transform !== undefined || mirror !== undefined || (sources ?? []).length > 0)
    return skipped(id, "the stream takes subjects from elsewhere, or changes them, so its own list does not say what is in it");
  const filters = filterSubjects(configuration);
  const outside = filters.filter((filter) => !subjects.some((subject) => subjectsOverlap(subject, filter)));
  const remedy = "correct nats.subject or consumer_management.filter_subjects, or add the subject to the stream";
  if (outside.length > 0) return failed(id, `the stream takes no subject that ${outside.join(", ")} matches`, remedy);
  const partly = filters.filter((filter) => !subjects.some((subject) => subjectContains(subject, filter)));
  return partly.length > 0
    ? warned(id, `the stream takes only a part of ${partly.join(", ")}`, remedy)
    : passed(id, `the stream takes ${filters.join(", ")}`);
}

import type { Configuration } from "../config/schema.js";
import { subjectContains } from "../config/subject-grammar.js";
import type { Check } from "../connector/preflight.js";
import { deadLetterApiPrefix } from "../source/connection.js";
import { filterSubjects } from "../source/consumer-settings.js";
import type { Answer } from "../source/examination.js";
import { requestSubject } from "../source/login-rights.js";
import type { StreamState } from "../source/stream-audit.js";
import { failed, passed, skipped, warned } from "./finding.js";

/** Dead letters are on, or what their absence means. */
export function deadLetterCheck({ dead_letter: deadLetter }: Configuration): Check {
  const id = "dead_letter";
  if (deadLetter.enabled) return passed(id, `dead letters go to ${deadLetter.subject}`);
  if (deadLetter.when_disabled === "discard")
    return warned(
      id,
      "dead letters are off and when_disabled is discard: messages that can never be stored are dropped",
      "enable dead_letter",
    );
  return skipped(id, `dead letters are off: a message that can never be stored makes the pipeline ${deadLetter.when_disabled}`);
}

/** A stream captures the subject, the expected one, and keeps what it takes (FW-DLQ-01, FW-DLQ-11). */
export function deadLetterStreamCheck(configuration: Configuration, name: Answer<string>, stream: Answer<StreamState>): Check {
  const id = "dead_letter.stream";
  const { subject, stream: expected } = configuration.dead_letter;
  const api = deadLetterApiPrefix(configuration);
  if (name.kind === "missing")
    return failed(id, `no stream captures "${subject}"`, "create a stream for it, or correct dead_letter.subject");
  if (name.kind !== "answer")
    return skipped(id, "the login may not look up streams by subject", `allow publishing to ${requestSubject(api, "STREAM.NAMES")}`);
  if (expected !== null && expected !== name.value)
    return failed(id, `"${subject}" is captured by stream "${name.value}", not "${expected}"`, "correct dead_letter.stream or the streams");
  if (stream.kind !== "answer")
    return skipped(id, `stream "${name.value}" cannot be read`, `allow publishing to ${requestSubject(api, `STREAM.INFO.${name.value}`)}`);
  const { retention, no_ack: unacknowledged, max_age: maximumAge } = stream.value.config;
  if (retention === "interest")
    return failed(id, `stream "${name.value}" keeps messages only while a consumer wants them`, "use retention limits");
  if (unacknowledged) return failed(id, `stream "${name.value}" acknowledges nothing`, "turn no_ack off");
  if (maximumAge > 0)
    return warned(
      id,
      `stream "${name.value}" lets go of dead letters after ${maximumAge / 1e9} s`,
      "look at them in time, or remove its max_age",
    );
  return passed(id, `stream "${name.value}" captures "${subject}"`);
}

/** What is dead is not read again by the same pipeline. */
export function deadLetterFilterCheck(configuration: Configuration): Check {
  const id = "dead_letter.filter";
  const { subject } = configuration.dead_letter;
  const own = filterSubjects(configuration).find((filter) => subject !== null && subjectContains(filter, subject));
  return own === undefined
    ? passed(id, "the dead-letter subject is outside the pipeline's own filter")
    : failed(id, `the pipeline's filter ${own} takes its own dead letters`, "choose another dead_letter.subject");
}

/** The largest message fits into a dead letter as it is; what does not is sent in chunks (FW-DLQ-05). */
export function deadLetterSizeCheck(
  { dead_letter: deadLetter }: Configuration,
  source: Answer<StreamState>,
  stream: Answer<StreamState>,
  maxPayload: number,
): Check {
  const id = "dead_letter.size";
  if (stream.kind !== "answer" || source.kind !== "answer") return skipped(id, "the streams were not read");
  const largest = limitOf([source.value.config.max_msg_size, maxPayload]);
  const limit = limitOf([stream.value.config.max_msg_size, deadLetter.max_bytes ?? 0, maxPayload]);
  if (limit >= largest) return passed(id, `a dead letter may have ${limit} bytes, a message ${largest}`);
  return warned(
    id,
    `a dead letter may have ${limit} bytes and a message ${largest}: larger ones are handled by dead_letter.oversize (${deadLetter.oversize})`,
    "raise max_msg_size of the dead-letter stream, or dead_letter.max_bytes",
  );
}

function limitOf(limits: readonly number[]): number {
  return Math.min(...limits.filter((limit) => limit > 0));
}

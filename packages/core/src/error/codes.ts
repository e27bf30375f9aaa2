/**
 * Every error code of the core, with the sentence the reference prints for it. A connector may add codes of its own
 * for facts of its destination (`^[a-z][a-z0-9_]{0,63}$`); it never reuses one of these for another meaning.
 */
export const errorCodes = {
  ack_unconfirmed: "The server did not confirm an acknowledgement in time.",
  configuration_invalid: "The configuration breaks a rule; the text names the key and the remedy.",
  connection_failed: "The NATS server could not be reached.",
  connector_invalid: "A connector's descriptor breaks the descriptor contract.",
  connector_not_installed: "The configuration names a connector whose package is not installed.",
  consumer_drift: "The consumer on the server differs from the configuration.",
  consumer_missing: "The consumer does not exist on the server.",
  credentials_refused: "A login was refused, a token has expired or a right is missing.",
  dead_letter_failed: "The dead letter could not be published.",
  destination_unavailable: "The destination cannot take any message at present.",
  filename_conflict: "The file that this message needs holds something else.",
  headers_malformed: "The message's header block cannot be parsed.",
  invalid_path: "The path of this message's file cannot be used.",
  max_deliver_exceeded: "The message reached the delivery limit of its consumer.",
  not_attempted: "The message was not sent to the destination.",
  not_supported: "The key is valid but its feature is not part of this release.",
  payload_not_json: "The payload is not JSON and the payload mode demands it.",
  payload_not_text: "The payload is not UTF-8 text and the payload mode demands it.",
  permanent: "The destination will never accept this message.",
  policy_violation: "A policy of the pipeline rejects this message.",
  retry_exhausted: "The message failed on every attempt its budget allows.",
  secret_missing: "An environment variable that should hold a secret is unset or blank.",
  serialization_failed: "The message cannot be represented in the form the destination needs.",
  sink_contract: "The sink broke its contract.",
  stream_missing: "The stream does not exist on the server.",
  temporary: "The write failed and may succeed later.",
  unexpected: "An error of an unknown kind.",
  unknown_outcome: "The write may or may not have been applied.",
  validation_failed: "A value breaks a rule of the framework.",
} as const;

/** A code of the core, or one of a connector's own. */
export type ErrorCode = keyof typeof errorCodes | (string & Record<never, never>);

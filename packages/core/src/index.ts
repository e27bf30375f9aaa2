export {
  type EnsureSchemaAbility,
  type HealthcheckAbility,
  type LookupAbility,
  type OrderedBatchesAbility,
  type RetrySafetyAbility,
  hasEnsureSchema,
  hasHealthcheck,
  hasLookup,
  hasOrderedBatches,
  hasRetrySafety,
} from "./connector/abilities.js";
export {
  type Connector,
  type ConnectorDefinition,
  type ConnectorServices,
  type ConnectorStatus,
  defineConnector,
  isConnector,
} from "./connector/define-connector.js";
export type { Sink, SinkContext, WriteContext, WriteOutcome } from "./connector/sink.js";
export { type EnvelopeFields, createEnvelope } from "./envelope/create-envelope.js";
export type { Envelope } from "./envelope/envelope.js";
export { envelopeFromSnapshot } from "./envelope/envelope-from-snapshot.js";
export type { HeaderMap } from "./envelope/headers.js";
export { digestKey, encodeKeyPart } from "./envelope/idempotency-key.js";
export { type JsonObject, type JsonValue, NumberToken, isNumberToken } from "./envelope/json.js";
export { encodeCanonicalJson, encodeJson, quoteJson } from "./envelope/json-encode.js";
export type { MetadataSnapshot } from "./envelope/metadata-snapshot.js";
export type { NormalizedPayload, PayloadFormat, PayloadMode } from "./envelope/payload.js";
export { formatRfc3339, parseRfc3339 } from "./envelope/rfc3339.js";
export { parseStrictJson } from "./envelope/strict-json.js";
export { type ErrorCode, errorCodes } from "./error/codes.js";
export {
  AckError,
  ConfigurationError,
  CredentialsError,
  DeadLetterError,
  DestinationUnavailableError,
  type ErrorKind,
  type ErrorOptions,
  NotAttemptedError,
  PermanentSinkError,
  PolicyViolationError,
  RetryExhaustedError,
  SerializationError,
  SinkContractError,
  SinkError,
  SinksError,
  SizePolicyViolationError,
  TemporarySinkError,
  UnknownOutcomeError,
  ValidationError,
  isErrorKind,
  isSinkError,
  isSinksError,
} from "./error/errors.js";
export { Secret, isSecret, secretOption } from "./option/secret.js";
export { type LogFields, type LogLevel, type Telemetry, silentTelemetry } from "./telemetry/port.js";

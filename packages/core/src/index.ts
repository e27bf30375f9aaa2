export { isPlainRecord } from "./config/plain-record.js";
export {
  type DdlAbility,
  type EnsureSchemaAbility,
  type HealthcheckAbility,
  hasDdl,
  hasEnsureSchema,
  hasHealthcheck,
  hasInventory,
  hasLookup,
  hasOrderedBatches,
  hasPlan,
  hasPreflight,
  hasRetrySafety,
  type LookupAbility,
  type OrderedBatchesAbility,
  type RetrySafetyAbility,
} from "./connector/abilities.js";
export {
  type Connector,
  type ConnectorDefinition,
  type ConnectorServices,
  type ConnectorStatus,
  defineConnector,
  isConnector,
  type WriteBudget,
} from "./connector/define-connector.js";
export type { InventoryAbility, InventoryReport, InventoryRequest } from "./connector/inventory.js";
export type { PlanAbility, PlannedMessage, PlannedRun, PlannedWrite, PlanRequest, SinkPlan } from "./connector/plan.js";
export type { Check, CheckStatus, PreflightAbility, PreflightOccasion } from "./connector/preflight.js";
export type { Sink, SinkContext, WriteContext, WriteOutcome } from "./connector/sink.js";
export { createEnvelope, type EnvelopeFields, type GivenHeaders } from "./envelope/create-envelope.js";
export type { Envelope } from "./envelope/envelope.js";
export { envelopeFromSnapshot } from "./envelope/envelope-from-snapshot.js";
export type { HeaderMap } from "./envelope/headers.js";
export { digestKey, encodeKeyPart } from "./envelope/idempotency-key.js";
export { isNumberToken, type JsonArray, type JsonObject, type JsonValue, NumberToken } from "./envelope/json.js";
export { encodeCanonicalJson, encodeJson, quoteJson } from "./envelope/json-encode.js";
export { findJsonHazards, type JsonHazards } from "./envelope/json-hazards.js";
export type { MetadataSnapshot } from "./envelope/metadata-snapshot.js";
export type { NormalizedPayload, PayloadFormat, PayloadMode } from "./envelope/payload.js";
export { formatRfc3339, parseRfc3339 } from "./envelope/rfc3339.js";
export { parseStrictJson } from "./envelope/strict-json.js";
export { compareUtf8 } from "./envelope/utf8-order.js";
export { type ErrorCode, errorCodes } from "./error/codes.js";
export {
  AckError,
  ConfigurationError,
  CredentialsError,
  DeadLetterError,
  DestinationUnavailableError,
  type ErrorKind,
  type ErrorOptions,
  isErrorKind,
  isSinkError,
  isSinksError,
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
} from "./error/errors.js";
export { isSecret, Secret, secretOption } from "./option/secret.js";
export { type LogFields, type LogLevel, silentTelemetry, type Telemetry } from "./telemetry/port.js";
export type { PlannedPayload, WriteMap } from "./write-map/apply.js";
export { type CompiledWriteMap, compileWriteMap, type WriteMapSettings, type WriteRule } from "./write-map/compile.js";
export { compileDestinationChoice, type DestinationChoice, destinationChoice } from "./write-map/destination-choice.js";
export { type Handler, type HandlerResult, runHandler } from "./write-map/handler.js";
export { checkWriteMap, writeMapOptions } from "./write-map/options.js";
export type { DeclaredTexts, RuleFault, WriteField, WriteOperation, WriteVocabulary } from "./write-map/vocabulary.js";

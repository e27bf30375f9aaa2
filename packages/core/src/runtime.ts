export { type ConfigurationFault, configurationFaults } from "./config/faults.js";
export { configurationJsonSchema, connectorJsonSchema, type JsonSchema } from "./config/json-schema.js";
export { type LoadedConfiguration, loadConfiguration } from "./config/load.js";
export { pipelineName } from "./config/pipeline-name.js";
export { redactedConfiguration, type ShownSink } from "./config/redact.js";
export { configurationReference, errorReference } from "./config/reference.js";
export { type ReferenceRow, referenceRows } from "./config/reference-table.js";
export { resolveSecrets } from "./config/resolve-secrets.js";
export { type Configuration, configurationSchema } from "./config/schema.js";
export { starterConfiguration } from "./config/starter.js";
export { validateConfiguration } from "./config/validate.js";
export { within } from "./connector/within.js";
export type { DeadLetterEntry } from "./dead-letter/entry.js";
export { type DeadLetterReader, openDeadLetterReader } from "./dead-letter/reader.js";
export { type DiagnoseRequest, diagnose } from "./doctor/diagnose.js";
export {
  createObservation,
  type Observation,
  type ObservationOptions,
  type OfferedObservation,
} from "./observation/observe.js";
export { type MadeMessage, makeMessage } from "./probe/made-message.js";
export { type ProbedMessage, type ProbeReport, type ProbeRequest, probeSink } from "./probe/probe.js";
export { builtInConnectors } from "./registry/built-in-connectors.js";
export { type ConnectorSearch, type Discovery, discoverConnectors, type OfferedConnector } from "./registry/discover.js";
export { loadConnector } from "./registry/load-connector.js";
export { type LoadedPipeline, loadPipeline } from "./registry/load-pipeline.js";
export { resolveSinkOptions } from "./registry/sink-options.js";
export { type ReplayReport, type ReplayRequest, type ReplayResult, replayDeadLetters } from "./replay/replay.js";
export { type Conditions, type ReplaySelection, type SelectableField, selectableFields } from "./replay/selection.js";
export { createRunner } from "./runner/runner.js";
export type { Runner, RunnerOptions, RunnerStatus, RunSummary } from "./runner/runner-contract.js";
export { startLimit } from "./runner/sink-life.js";
export { readMessages } from "./source/stream-messages.js";
export type { SequenceRange } from "./verify/range-list.js";
export type { Verification } from "./verify/verification.js";
export { type VerifyRequest, verifyPipeline } from "./verify/verify-pipeline.js";

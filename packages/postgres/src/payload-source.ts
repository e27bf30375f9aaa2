import {
  type CompiledWriteMap,
  ConfigurationError,
  compileWriteMap,
  type Envelope,
  type Handler,
  runHandler,
  type WriteMap,
  type WriteMapSettings,
} from "@sinks/core";
import type { PostgresOptions } from "./options.js";
import type { PostgresPayload } from "./payload.js";
import { declaredStatements, writeVocabulary } from "./write-vocabulary.js";

/** One payload as its source made it, not checked yet. */
export interface SourcedPayload {
  readonly payload: unknown;
  /** True when the message chose a name in it (WO-ERR-05). */
  readonly namesFromMessage: boolean;
}

/** Makes the payloads of a message; throws the `SinkError` that rejects it. */
export type PayloadSource = (envelope: Envelope) => readonly SourcedPayload[] | Promise<readonly SourcedPayload[]>;

/** The payloads that a write map of the configuration makes. */
export function writeMapSource(
  settings: WriteMapSettings & Pick<PostgresOptions, "statements" | "allow_quoted_identifiers">,
): PayloadSource {
  const vocabulary = writeVocabulary(settings.allow_quoted_identifiers);
  const compiled: CompiledWriteMap = compileWriteMap(settings, vocabulary, declaredStatements({ statements: settings.statements }) ?? {});
  if ("faults" in compiled) throw new ConfigurationError(`sink.${compiled.faults[0]?.path.join(".")}: ${compiled.faults[0]?.message}`);
  const map: WriteMap = compiled.map;
  return (envelope) => map.plan(envelope).map(({ payload, rule }) => ({ payload, namesFromMessage: rule.namesFromMessage }));
}

/** The payloads that code makes; its names are the program's own. */
export function handlerSource(handler: Handler<PostgresPayload>): PayloadSource {
  return async (envelope) => (await runHandler(handler, envelope)).map((payload) => ({ payload, namesFromMessage: false }));
}

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
import type { PostgresOptions } from "../options.js";
import type { PostgresPayload } from "./payload.js";
import { declaredStatements, writeVocabulary } from "./write-vocabulary.js";

/** One payload as its source made it, not checked yet. */
export interface SourcedPayload {
  readonly payload: unknown;
  /** What is known of its origin; `namesFromMessage` is true when the message chose a name in it (WO-ERR-05). */
  readonly rule: { readonly namesFromMessage: boolean };
}

/** Where the payloads of messages come from. */
export interface PayloadSource {
  /**
   * True for a write map: asking again gives the same and does nothing else, and a payload whose names are the rule's own
   * passed guard 1 when the rule was compiled.
   */
  readonly compiled: boolean;
  /** The payloads of a message; throws, or rejects with, the `SinkError` that rejects it. */
  payloads(envelope: Envelope): readonly SourcedPayload[] | Promise<readonly SourcedPayload[]>;
}

/** The payloads that a write map of the configuration makes. */
export function writeMapSource(
  settings: WriteMapSettings & Pick<PostgresOptions, "statements" | "allow_quoted_identifiers">,
): PayloadSource {
  const vocabulary = writeVocabulary(settings.allow_quoted_identifiers);
  const compiled: CompiledWriteMap = compileWriteMap(settings, vocabulary, declaredStatements({ statements: settings.statements }) ?? {});
  if ("faults" in compiled) throw new ConfigurationError(`sink.${compiled.faults[0]?.path.join(".")}: ${compiled.faults[0]?.message}`);
  const map: WriteMap = compiled.map;
  return { compiled: true, payloads: (envelope) => map.plan(envelope) };
}

const ownNames: SourcedPayload["rule"] = Object.freeze({ namesFromMessage: false });

/** The payloads that code makes; its names are the program's own. */
export function handlerSource(handler: Handler<PostgresPayload>): PayloadSource {
  const payloads = async (envelope: Envelope) => (await runHandler(handler, envelope)).map((payload) => ({ payload, rule: ownNames }));
  return { compiled: false, payloads };
}

import type { z } from "zod";
import type { Telemetry } from "../telemetry/port.js";
import type { Sink } from "./sink.js";

/** How far a connector has come. */
export type ConnectorStatus = "production" | "experimental" | "planned" | "third_party";

/** What a connector's factory may use besides its options. */
export interface ConnectorServices {
  readonly telemetry: Telemetry;
  /** Wall clock, ns since the Unix epoch. */
  readonly nowNs: () => bigint;
  /** Directory against which relative paths of the configuration are resolved. */
  readonly workingDirectory: string;
}

/** What an author states about a connector (FW-REG-01). */
export interface ConnectorDefinition<Options extends z.ZodObject> {
  /** `^[a-z][a-z0-9_-]{0,63}$`; the word after `type:` in a configuration. */
  readonly name: string;
  readonly apiVersion: "1";
  /** One sentence, up to 500 characters. */
  readonly summary: string;
  readonly status?: ConnectorStatus;
  /** Needs certification evidence. */
  readonly productionReady?: boolean;
  /** Where the manual is, up to 255 characters. */
  readonly documentation?: string;
  /** Passing evidence by certification group, each up to 255 characters. */
  readonly certification?: readonly string[];
  /** The one source of types, defaults, validation, JSON Schema and reference text. */
  readonly options: Options;
  /** Makes a sink; no I/O happens before its `start`. */
  create(options: z.output<Options>, services: ConnectorServices): Sink;
}

/** A published descriptor, recognised by brand. */
export interface Connector<Options extends z.ZodObject = z.ZodObject> extends Required<ConnectorDefinition<Options>> {}

import { configurationFaults, faultsError } from "../config/faults.js";
import { type LoadFileRequest, type LoadTextRequest, readConfiguration } from "../config/load.js";
import { configurationNotices } from "../config/notices.js";
import { isPlainRecord } from "../config/plain-record.js";
import { type Configuration, configurationSections } from "../config/schema.js";
import { findConfigurationFaults, validateConfiguration } from "../config/validate.js";
import type { Connector } from "../connector/define-connector.js";
import type { ConnectorSearch } from "./discover.js";
import { loadConnector } from "./load-connector.js";
import { checkSinkOptions } from "./sink-options.js";

/** A configuration whose sink has been checked by its connector too. */
export interface LoadedPipeline {
  readonly configuration: Configuration;
  readonly connector: Connector;
  /** The sink's options with every default, secrets still by name; `resolveSinkOptions` reads them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly notices: readonly string[];
  readonly source: string;
}

interface CheckedSink {
  readonly connector: Connector | null;
  readonly options: Readonly<Record<string, unknown>> | null;
  readonly error: unknown;
}

async function checkSink(raw: unknown, search: ConnectorSearch): Promise<CheckedSink> {
  const sections = isPlainRecord(raw) ? raw : {};
  const sink = configurationSections.shape.sink.safeParse(sections["sink"]);
  const plugins = configurationSections.shape.plugins.safeParse(sections["plugins"]);
  const nothing = { connector: null, options: null, error: null };
  if (!sink.success || !plugins.success || sink.data.type === "fanout") return nothing;
  try {
    const connector = await loadConnector(sink.data.type, plugins.data, search);
    const { faults, options } = checkSinkOptions(sink.data, connector);
    return { connector, options, error: faults.length > 0 ? faultsError(faults) : null };
  } catch (error) {
    return { ...nothing, error };
  }
}

/**
 * Loads a configuration together with the connector that it names: one `ConfigurationError` lists every fault of the
 * sections and of the sink's own keys, a line each. No network, no secret is resolved, nothing is created.
 */
export async function loadPipeline(
  request: (LoadFileRequest | LoadTextRequest) & { readonly search: ConnectorSearch },
): Promise<LoadedPipeline> {
  const { raw, faults, notices, source } = await readConfiguration(request);
  const found = [...faults, ...findConfigurationFaults(raw)];
  const sink = await checkSink(raw, request.search);
  const ofSink = configurationFaults(sink.error);
  if (sink.error !== null && ofSink.length === 0 && found.length === 0) throw sink.error;
  if (found.length + ofSink.length > 0) throw faultsError([...found, ...ofSink]);
  const configuration = validateConfiguration(raw);
  const { connector, options } = sink;
  if (connector === null || options === null) throw new Error("a valid sink section has a connector and options");
  // A descriptor made by an older copy of this package says nothing of its own.
  const ofOptions = (connector.notices?.(options, { writeMs: configuration.delivery.in_progress.max_lease_ms }) ?? []).map(
    (notice) => `sink.${notice}`,
  );
  const told = [...notices, ...configurationNotices(raw, configuration), ...ofOptions];
  return { configuration, connector, options, notices: told, source };
}

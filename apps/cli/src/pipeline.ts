import type { Sink, Telemetry } from "@sinks/core";
import { type LoadedPipeline, loadPipeline, resolveSinkOptions } from "@sinks/core/runtime";
import { type ConfigurationChoice, chosenFile } from "./configuration-choice.js";
import { connectorSearch } from "./connector-search.js";
import type { Host } from "./host.js";

/** A pipeline that is ready to be started: valid configuration, imported connector, nothing connected. */
export interface Pipeline extends LoadedPipeline {
  /** Makes a sink with the secrets of this moment; throws `ConfigurationError` naming those that are missing. */
  createSink(telemetry: Telemetry): Sink;
  /** Makes a sink that will never connect: what variables name stays unset, so none of them has to be there. */
  createOfflineSink(telemetry: Telemetry): Sink;
}

/** Loads the configuration that a command line means together with its connector; neither network nor secrets are touched. */
export async function loadChosenPipeline(host: Host, choice: ConfigurationChoice): Promise<LoadedPipeline> {
  return loadPipeline({
    file: chosenFile(choice, host),
    environment: host.environment,
    set: choice.overrides,
    search: connectorSearch(host, choice.project),
  });
}

/** Loads a pipeline and makes it ready to be started; its notices are for the caller to tell. */
export async function preparePipeline(host: Host, choice: ConfigurationChoice): Promise<Pipeline> {
  const loaded = await loadChosenPipeline(host, choice);
  const { configuration, connector } = loaded;
  const services = (telemetry: Telemetry) => ({ telemetry, nowNs: host.nowNs, workingDirectory: host.workingDirectory });
  return {
    ...loaded,
    createSink: (telemetry) => connector.create(resolveSinkOptions(configuration, connector, host.environment), services(telemetry)),
    createOfflineSink: (telemetry) => connector.create(loaded.options, services(telemetry)),
  };
}

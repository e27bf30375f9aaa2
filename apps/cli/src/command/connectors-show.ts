import type { Connector } from "@sinks/core";
import { connectorJsonSchema, loadConnector, type OfferedConnector, referenceRows } from "@sinks/core/runtime";
import { type ConnectorChoice, findOffer, mayImport, pluginsOf } from "../connector-access.js";
import { connectorSearch } from "../connector-search.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { type Format, printResult } from "../output/result.js";
import { styleOf } from "../output/style.js";
import { pairs, table } from "../output/table.js";
import { type ConnectorLine, connectorLine } from "./connectors-list.js";

/** What `sinks connectors show` was asked for. */
export interface ConnectorsShowRequest extends ConnectorChoice {
  readonly format: Format;
}

interface OptionLine {
  readonly key: string;
  readonly default: string;
  readonly value: string;
  readonly meaning: string;
}

/** A connector as its descriptor says; null where its package was not imported. */
interface ConnectorDocument extends ConnectorLine {
  readonly summary: string | null;
  readonly status: string | null;
  readonly production_ready: boolean | null;
  readonly documentation: string | null;
  readonly certification: readonly string[] | null;
  readonly options: readonly OptionLine[] | null;
  /** How to have it described when it is not; null when it is. */
  readonly remedy: string | null;
}

/** Describes one connector; a package of a third party is imported only when a configuration allows it (FW-REG-04, FW-REG-06). */
export async function connectorsShow(host: Host, request: ConnectorsShowRequest): Promise<number> {
  const offer = await findOffer(host, request);
  const plugins = await pluginsOf(host, request.config);
  const connector = mayImport(offer, plugins) ? await loadConnector(offer.name, plugins, connectorSearch(host, request.project)) : null;
  const shown = document(offer, connector);
  printResult(host, request.format, shown, () => text(shown, host));
  return exitCodes.good;
}

function document(offer: OfferedConnector, connector: Connector | null): ConnectorDocument {
  return {
    ...connectorLine(offer),
    summary: connector?.summary ?? null,
    status: connector?.status ?? null,
    production_ready: connector?.productionReady ?? null,
    documentation: connector === null || connector.documentation === "" ? null : connector.documentation,
    certification: connector?.certification ?? null,
    options: connector === null ? null : optionLines(connector),
    remedy: connector === null ? remedyOf(offer) : null,
  };
}

function remedyOf({ manifest, packageName, planned }: OfferedConnector): string {
  if (planned) return "it is planned and not part of this release";
  if (manifest === null) return `npm install ${packageName}`;
  return "name a configuration with -c whose plugins.allowed_sinks has this connector: only then is its package imported";
}

function optionLines(connector: Connector): readonly OptionLine[] {
  return referenceRows(connectorJsonSchema(connector)).map(({ key, kind, standard, description }) => ({
    key,
    default: standard.replace(/^`(.*)`$/, "$1"),
    value: kind,
    meaning: description,
  }));
}

/** A path is one of this repository; a reader of an installed package needs its address. */
function documentationText({ documentation, built_in: builtIn }: ConnectorDocument): string {
  const place = documentation ?? "";
  return builtIn && place.startsWith("docs/") ? `https://github.com/sinks-project/sinks/blob/main/${place}` : place;
}

function text(shown: ConnectorDocument, host: Host): string {
  const facts: (readonly [string, string])[] = [
    ["name", shown.name],
    ["package", `${shown.package}${shown.installed ? ` ${shown.version ?? ""}` : shown.planned ? ", planned" : ", not installed"}`],
    ["kind", shown.built_in ? "built in" : "third party"],
  ];
  if (shown.summary !== null) facts.push(["summary", shown.summary]);
  if (shown.status !== null) facts.push(["status", `${shown.status}${shown.production_ready === true ? ", ready for production" : ""}`]);
  if (shown.documentation !== null) facts.push(["documentation", documentationText(shown)]);
  for (const evidence of shown.certification ?? []) facts.push(["certification", evidence]);
  if (shown.remedy !== null) facts.push([shown.planned ? "state" : shown.installed ? "to see more" : "to add it", shown.remedy]);
  const rows = (shown.options ?? []).map((option) => [option.key, option.default, option.value, option.meaning]);
  const { bold } = styleOf(host.stdout, host.environment);
  return `${pairs(facts)}${rows.length === 0 ? "" : `\n${table(["OPTION", "DEFAULT", "VALUE", "MEANING"], rows, bold)}`}`;
}

import type { Host } from "../host.js";
import { jsonText } from "./json-text.js";

/** How a result is printed. */
export type Format = "text" | "json";

/** Prints a result: one JSON document, or the text for people (FW-CLI-04). */
export function printResult(host: Host, format: Format, document: unknown, text: () => string): void {
  host.stdout.write(format === "json" ? `${jsonText(document, 2)}\n` : text());
}

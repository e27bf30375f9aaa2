import type { LogFields, LogLevel } from "@sinks/core";
import { cap, escapeControls, redactUserInfo } from "../output/escape.js";
import { jsonText } from "../output/json-text.js";

/** Longest value of one field, in characters. */
export const maximumValue = 1024;
/** Longest log line, in characters. */
export const maximumLine = 8192;

/** One event to be logged. */
export interface LogEvent {
  readonly time: Date;
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: LogFields;
}

type Value = LogFields[string];

function safeText(text: string): string {
  return cap(redactUserInfo(text), maximumValue);
}

function textValue(value: Value): string {
  if (typeof value !== "string") return String(value);
  const text = escapeControls(safeText(value));
  // A bare word stands as it is; anything a reader could take for two fields is quoted.
  return /^[^\s"=]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`;
}

/** `2026-01-31T10:00:00.000Z warn  event key=value …`, controls escaped, capped (FW-OBS-04). */
export function textLogLine({ time, level, event, fields }: LogEvent): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${escapeControls(name)}=${textValue(value)}`);
  return cap(`${time.toISOString()} ${level.padEnd(5)} ${escapeControls(safeText(event))}${pairs.join("")}`, maximumLine);
}

function jsonValue(value: Value): Value {
  if (typeof value === "string") return safeText(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** One JSON object: `time`, `level`, `event` and the fields; fields that do not fit are left out and counted in `omitted`. */
export function jsonLogLine({ time, level, event, fields }: LogEvent): string {
  const document: Record<string, Value> = { time: time.toISOString(), level, event: safeText(event) };
  let length = jsonText(document).length;
  let omitted = 0;
  for (const [name, value] of Object.entries(fields)) {
    const shown = jsonValue(value);
    length += jsonText(name).length + jsonText(shown).length + 2;
    if (length > maximumLine - 32) omitted += 1;
    else document[Object.hasOwn(document, name) ? `field_${name}` : name] = shown;
  }
  return jsonText(omitted > 0 ? { ...document, omitted } : document);
}

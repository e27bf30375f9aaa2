import type { FlightEntry } from "./flight.js";

/** Which lane a message belongs to (FW-RUN-12); messages without the key share one lane. */
export function laneKey(ordering: "strict" | "per_key", orderKey: string): (entry: FlightEntry) => string {
  if (ordering === "strict") return () => "";
  if (orderKey === "subject") return (entry) => `s:${entry.envelope?.subject ?? ""}`;
  const [kind, argument = ""] = splitOnce(orderKey);
  if (kind === "header") {
    return (entry) => {
      const value = entry.envelope?.headers.get(argument);
      return value === undefined ? "" : `h:${value}`;
    };
  }
  const token = Number(argument) - 1;
  return (entry) => {
    const value = entry.envelope?.subject.split(".")[token];
    return value === undefined ? "" : `t:${value}`;
  };
}

function splitOnce(text: string): readonly [string, string] {
  const colon = text.indexOf(":");
  return colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
}

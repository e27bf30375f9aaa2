import type { BuiltWrite } from "../render/built-write.js";
import type { MessageWrites } from "./segment.js";

/**
 * Groups messages into transactions (WO-PG-25). With `run` a transaction ends where a run does, unless a message's writes
 * span that place: a message is applied as a whole or not at all.
 */
export function transactionUnits(
  messages: readonly MessageWrites[],
  transaction: "delivery" | "run",
): readonly (readonly MessageWrites[])[] {
  if (messages.length === 0) return [];
  if (transaction === "delivery") return [messages];
  const units: MessageWrites[][] = [];
  let last: BuiltWrite | undefined;
  for (const message of messages) {
    const unit = units.at(-1);
    if (unit === undefined || message.writes[0]?.form !== last?.form) units.push([message]);
    else unit.push(message);
    last = message.writes.at(-1);
  }
  return units;
}

import type { Envelope } from "../envelope/envelope.js";
import type { CompiledRule, WriteMapSettings, WriteRule } from "./compile.js";
import { rejection } from "./rejection.js";

/** One payload that a rule makes of a message. */
export interface PlannedPayload {
  readonly rule: WriteRule;
  /** The operation (`op`) and its fields under their API names (`updateColumns`). Parts of it may be frozen and shared. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A compiled write map. */
export interface WriteMap {
  /**
   * The payloads of one message, in order. None when no rule matches and the map says `ignore`, or `each` has no elements:
   * such a message counts as stored. Throws `ValidationError` for a message that must be rejected, naming rule and path.
   */
  plan(envelope: Envelope): readonly PlannedPayload[];
}

const nothing: readonly PlannedPayload[] = Object.freeze([]);

/** Makes the map of compiled rules (FW-MAP-01). */
export function createWriteMap(
  rules: readonly CompiledRule[],
  settings: Pick<WriteMapSettings, "write_mode" | "no_write_match">,
): WriteMap {
  const first = settings.write_mode === "first";
  return {
    plan: (envelope) => {
      const planned: PlannedPayload[] = [];
      let matched = false;
      for (const each of rules) {
        if (each.matches !== null && !each.matches(envelope)) continue;
        matched = true;
        append(planned, each, envelope);
        if (first) break;
      }
      if (!matched && settings.no_write_match === "reject") throw rejection(envelope, "write", "no rule matches", "no_write_match");
      return planned.length === 0 ? nothing : planned;
    },
  };
}

function append(planned: PlannedPayload[], { rule, each, payload }: CompiledRule, envelope: Envelope): void {
  if (each === null) {
    planned.push({ rule, payload: payload(envelope, undefined, 0) as PlannedPayload["payload"] });
    return;
  }
  const elements = each(envelope);
  for (let index = 0; index < elements.length; index += 1) {
    planned.push({ rule, payload: payload(envelope, elements[index], index) as PlannedPayload["payload"] });
  }
}

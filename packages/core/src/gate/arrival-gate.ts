import type { Configuration } from "../config/schema.js";
import type { Envelope } from "../envelope/envelope.js";
import { inspectEnvelope } from "../envelope/message-envelope.js";
import { type SinkError, TemporarySinkError } from "../error/errors.js";
import type { Telemetry } from "../telemetry/port.js";
import { compileFreshness } from "./freshness.js";
import { headerBlockSizes, headerMapSizes } from "./header-sizes.js";
import { SizeLimits } from "./size-limits.js";

/**
 * Judges one message on arrival: the error that rejects it, or null. `block` is the header block as it came, null without
 * one, undefined when the client keeps only the parsed headers. It never throws.
 */
export type ArrivalGate = (envelope: Envelope, block: Uint8Array | null | undefined) => SinkError | null;

/**
 * The gates of FW-RUN-10 in their order, compiled once; null when nothing but the envelope itself is to be inspected, so
 * that a pipeline without policies pays nothing for them.
 */
export function compileArrivalGate(configuration: Configuration, telemetry: Telemetry): ArrivalGate | null {
  const { size_policy: policy } = configuration;
  const limits = policy.enabled ? new SizeLimits(policy) : null;
  const measure = compileFreshness(configuration, telemetry);
  if (limits === null && measure === null) return null;
  return guarded((envelope, block) => {
    const rejection = limits === null ? inspectEnvelope(envelope) : judged(limits, envelope, block);
    // What was rejected for its size may not be parsed, not even to know its age.
    if (rejection === null) measure?.(envelope);
    return rejection;
  });
}

function judged(limits: SizeLimits, envelope: Envelope, block: Uint8Array | null | undefined): SinkError | null {
  const headers = block === undefined ? headerMapSizes(envelope.headers) : block === null ? null : headerBlockSizes(block);
  return limits.raw(envelope, headers) ?? inspectEnvelope(envelope) ?? limits.derived(envelope, headers);
}

/** A gate that fails by itself has judged nothing: the message is tried again, its neighbours never hear of it. */
function guarded(gate: ArrivalGate): ArrivalGate {
  return (envelope, block) => {
    try {
      return gate(envelope, block);
    } catch (cause) {
      return new TemporarySinkError("a check of the pipeline failed by itself; the message is tried again", { code: "gate_failed", cause });
    }
  };
}

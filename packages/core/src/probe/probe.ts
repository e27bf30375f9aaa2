import type { Configuration } from "../config/schema.js";
import { hasPlan } from "../connector/abilities.js";
import type { PlannedWrite, SinkPlan } from "../connector/plan.js";
import type { Sink } from "../connector/sink.js";
import type { Envelope } from "../envelope/envelope.js";
import { inspectEnvelope } from "../envelope/message-envelope.js";
import { compileSubjectPattern } from "../envelope/subject-pattern.js";
import { ConfigurationError, type SinkError } from "../error/errors.js";
import { compileArrivalGate } from "../gate/arrival-gate.js";
import { filterSubjects } from "../source/consumer-settings.js";
import { silentTelemetry } from "../telemetry/port.js";

/** What is to be probed. */
export interface ProbeRequest {
  readonly configuration: Configuration;
  /** Made and not started. */
  readonly sink: Sink;
  /** Taken for one batch. */
  readonly messages: readonly Envelope[];
  readonly showValues: boolean;
  readonly signal: AbortSignal;
}

/** What would become of one message. */
export interface ProbedMessage {
  readonly message: Envelope;
  /** False when the consumer's filters leave it out. */
  readonly delivered: boolean;
  /** Why it would be rejected, by a gate or by the sink; null when it would be written. */
  readonly error: SinkError | null;
  readonly writes: readonly PlannedWrite[];
}

/** What would become of a batch. */
export interface ProbeReport extends Omit<SinkPlan, "messages"> {
  readonly messages: readonly ProbedMessage[];
}

/**
 * Says what the pipeline would write for some messages, and writes nothing (WO-OB-01, WO-OB-02): each passes the gates, then
 * the sink builds what is left as one batch. Rejects with `ConfigurationError` when the connector cannot tell.
 */
export async function probeSink({ configuration, sink, messages, showValues, signal }: ProbeRequest): Promise<ProbeReport> {
  if (!hasPlan(sink)) {
    throw new ConfigurationError(
      `sink.type: connector "${configuration.sink.type}" cannot say what it would write, so it cannot be probed`,
      {
        code: "not_supported",
      },
    );
  }
  const gate = compileArrivalGate(configuration, silentTelemetry) ?? inspectEnvelope;
  const judged = messages.map((message) => ({ message, rejection: gate(message, undefined) }));
  const admitted = judged.flatMap(({ message, rejection }) => (rejection === null ? [message] : []));
  const { messages: planned, ...plan } = await sink.plan(admitted, { showValues, signal });
  const filters = filterSubjects(configuration).map(compileSubjectPattern);
  let next = 0;
  return {
    ...plan,
    messages: judged.map(({ message, rejection }) => {
      const own = rejection === null ? planned[next++] : undefined;
      const delivered = filters.some((filter) => filter.matches(message.subject));
      return { message, delivered, error: rejection ?? own?.error ?? null, writes: own?.writes ?? [] };
    }),
  };
}

import type { Configuration } from "../config/schema.js";
import type { Check } from "../connector/preflight.js";
import { apiPrefix } from "../source/connection.js";
import type { ConsumerState, ServerFeatures } from "../source/consumer.js";
import { compareConsumer, missingPin, priorityGroup, statedConsumer } from "../source/consumer-settings.js";
import type { Answer } from "../source/examination.js";
import { requestSubject } from "../source/login-rights.js";
import { failed, passed, skipped, warned } from "./finding.js";

/** A lease shorter than this may be lost to a pause of the machine alone. */
const shortDeadlineMs = 1000;

/** The consumer is there, or will be made, and the runner can use it. */
export function consumerCheck({ nats, consumer_management: management, delivery }: Configuration, consumer: Answer<ConsumerState>): Check {
  const id = "consumer";
  const name = `consumer "${nats.consumer}"`;
  if (consumer.kind === "denied")
    return failed(
      id,
      `the login may not read ${name}`,
      `allow publishing to ${requestSubject(apiPrefix(nats), `CONSUMER.INFO.${nats.stream}.${nats.consumer}`)}`,
    );
  if (consumer.kind === "silent") return failed(id, `the server does not answer for ${name} (${consumer.reason})`, "try again");
  if (consumer.kind === "missing") {
    return management.mode === "bind_only"
      ? failed(id, `there is no ${name}`, "create it, or set consumer_management.mode to create_if_missing")
      : passed(id, `${name} is not there yet; it is made at start`);
  }
  const { config, num_pending: pending, num_ack_pending: ackPending } = consumer.value;
  if (config.deliver_subject) return failed(id, `${name} is a push consumer`, "name a pull consumer");
  if (config.max_deliver === 1 && !delivery.allow_single_delivery)
    return failed(id, `${name} has max_deliver 1: nothing comes again after a failure`, "raise it, or set delivery.allow_single_delivery");
  return passed(id, `${name} has ${pending} messages to deliver and ${ackPending} delivered and not acknowledged`);
}

/** The consumer is as the configuration states it (FW-RUN-03). */
export function driftCheck(configuration: Configuration, features: ServerFeatures, consumer: Answer<ConsumerState>): Check {
  const id = "consumer.drift";
  if (consumer.kind !== "answer") return skipped(id, "there is no consumer to compare");
  const stated = statedConsumer(configuration, priorityGroup(configuration, features.priorityGroups), 0);
  const reconciles = configuration.consumer_management.mode === "reconcile";
  const pin = reconciles ? missingPin(stated, consumer.value.config) : [];
  const differences = [...compareConsumer(stated, consumer.value.config), ...pin];
  if (differences.length === 0) return passed(id, "the consumer is as configured");
  const list = differences.map(({ field, expected, actual }) => `${field} expected ${expected}, found ${actual}`).join("; ");
  const mutable = differences.every((difference) => difference.mutable);
  if (reconciles && mutable) return warned(id, `start will change the consumer: ${list}`, "nothing, when that is wanted");
  return failed(
    id,
    `the consumer differs: ${list}`,
    mutable
      ? "correct the configuration, or set consumer_management.mode to reconcile"
      : "this cannot be changed on a live consumer: use another name",
  );
}

/** The shortest lease outlasts the time a batch takes to fill (FW-RUN-15). */
export function deadlineCheck({ delivery }: Configuration, consumer: Answer<ConsumerState>): Check {
  const id = "consumer.deadline";
  if (consumer.kind !== "answer") return skipped(id, "there is no consumer yet");
  const { backoff, ack_wait: ackWait } = consumer.value.config;
  const deadlineMs = (backoff && backoff.length > 0 ? Math.min(...backoff) : (ackWait ?? 0)) / 1e6;
  const batchMs = Math.max(delivery.batch_timeout_ms, delivery.linger_ms);
  const facts = `the shortest deadline of a delivery is ${deadlineMs} ms, a batch may take ${batchMs} ms to come together`;
  const remedy = "raise ack_wait or the first backoff of the consumer, or lower delivery.batch_timeout_ms and linger_ms";
  if (deadlineMs > batchMs && deadlineMs >= shortDeadlineMs) return passed(id, facts);
  if (delivery.in_progress.enabled) return warned(id, `${facts}: only heartbeats keep the lease`, remedy);
  return failed(
    id,
    `${facts}, and heartbeats are off: messages come again before they are written`,
    `${remedy}, or set delivery.in_progress.enabled`,
  );
}

/** The window of the consumer takes what the flight wants (FW-RUN-04), and is not full. */
export function windowCheck({ delivery }: Configuration, consumer: Answer<ConsumerState>): Check {
  const id = "consumer.max_ack_pending";
  if (consumer.kind !== "answer") return skipped(id, "there is no consumer yet");
  const { config, num_ack_pending: ackPending, num_pending: pending } = consumer.value;
  const window = config.max_ack_pending ?? 0;
  const wanted = delivery.max_messages_in_flight;
  if (window > 0 && ackPending >= window && pending > 0)
    return warned(
      id,
      `all ${window} places of max_ack_pending are taken and ${pending} messages wait`,
      "find out what holds them: sinks dlq list, health, logs",
    );
  if (window > 0 && window < wanted)
    return warned(
      id,
      `max_ack_pending is ${window}, below the flight of ${wanted} messages, which is clamped`,
      "raise max_ack_pending, or lower delivery.max_messages_in_flight",
    );
  return passed(id, window > 0 ? `max_ack_pending is ${window}, the flight ${wanted} messages` : "max_ack_pending is without limit");
}

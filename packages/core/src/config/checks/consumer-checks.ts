import { fault } from "../faults.js";
import { subjectContains, subjectsOverlap } from "../subject-grammar.js";
import { crossCheck } from "./cross-check.js";

const deadlines = crossCheck(["consumer_management"], ({ consumer_management: consumer }) => {
  const { ack_wait_seconds: ackWait, backoff_seconds: backoff, max_deliver: maxDeliver } = consumer;
  return [
    ackWait !== null &&
      backoff !== null &&
      fault("consumer_management.backoff_seconds", "must not stand beside ack_wait_seconds", "keep one of the two"),
    backoff !== null &&
      maxDeliver !== null &&
      backoff.length > maxDeliver &&
      fault(
        "consumer_management.backoff_seconds",
        "has more entries than max_deliver",
        "raise consumer_management.max_deliver or remove entries",
      ),
  ];
});

const start = crossCheck(["consumer_management"], ({ consumer_management: consumer }) => {
  const keys = [
    { key: "start_sequence", policy: "by_start_sequence", given: consumer.start_sequence !== null },
    { key: "start_time", policy: "by_start_time", given: consumer.start_time !== null },
  ];
  return keys.flatMap(({ key, policy, given }) => [
    given &&
      consumer.deliver_policy !== policy &&
      fault(`consumer_management.${key}`, `needs deliver_policy ${policy}`, "set that policy or remove the key"),
    !given &&
      consumer.deliver_policy === policy &&
      fault(`consumer_management.${key}`, "required key is missing", `deliver_policy ${policy} needs it`),
  ]);
});

const filters = crossCheck(["nats", "consumer_management"], ({ nats, consumer_management: consumer }) =>
  consumer.filter_subjects.flatMap((filter, index, all) => [
    !subjectContains(nats.subject, filter) &&
      fault(`consumer_management.filter_subjects[${index}]`, "is not contained in nats.subject", "widen nats.subject or remove the filter"),
    all.slice(0, index).some((other) => other !== filter && subjectsOverlap(other, filter)) &&
      fault(`consumer_management.filter_subjects[${index}]`, "overlaps an earlier filter, which the server refuses", "keep filters apart"),
  ]),
);

const singleDelivery = crossCheck(["consumer_management", "delivery"], ({ consumer_management: consumer, delivery }) => [
  consumer.max_deliver === 1 &&
    !delivery.allow_single_delivery &&
    fault(
      "consumer_management.max_deliver",
      "1 leaves no second delivery after a crash",
      "raise it, or set delivery.allow_single_delivery to true",
    ),
]);

const push = crossCheck(["push_consumer"], ({ push_consumer: consumer }) => [
  consumer.flow_control &&
    consumer.idle_heartbeat_seconds === null &&
    fault("push_consumer.flow_control", "needs idle_heartbeat_seconds", "set push_consumer.idle_heartbeat_seconds"),
]);

/** Rules between the keys of the consumer (FW-CFG-08, FW-RUN-04). */
export const consumerChecks = [deadlines, start, filters, singleDelivery, push];

import { fault } from "../faults.js";
import { subjectContains } from "../subject-grammar.js";
import { crossCheck } from "./cross-check.js";

const window = crossCheck(["consumer_management", "delivery"], ({ consumer_management: consumer, delivery }) => {
  const limit = consumer.max_ack_pending;
  if (limit === null) return [];
  return [
    delivery.batch_size > limit &&
      fault("delivery.batch_size", "must not be above consumer_management.max_ack_pending", "lower it or raise max_ack_pending"),
    delivery.max_messages_in_flight !== null &&
      delivery.max_messages_in_flight > limit &&
      fault(
        "delivery.max_messages_in_flight",
        "must not be above consumer_management.max_ack_pending",
        "lower it or raise max_ack_pending",
      ),
  ];
});

const retry = crossCheck(["delivery"], ({ delivery }) => [
  delivery.retry_backoff_max_ms < delivery.retry_backoff_ms &&
    fault("delivery.retry_backoff_max_ms", "must not be below delivery.retry_backoff_ms", "raise it or lower retry_backoff_ms"),
  delivery.ack_confirmation.enabled &&
    delivery.ack_mode !== null &&
    delivery.ack_mode !== "confirmed" &&
    fault("delivery.ack_mode", "must be confirmed when delivery.ack_confirmation.enabled is true", "remove one of the two"),
  delivery.priority_lanes.enabled &&
    delivery.ordering !== null &&
    delivery.ordering !== "none" &&
    fault("delivery.priority_lanes.enabled", "needs delivery.ordering none", "give up the lanes or the order"),
]);

const lanes = crossCheck(["delivery"], ({ delivery: { priority_lanes: lanes } }) => {
  const names = lanes.lanes.map(({ name }) => name);
  const priorities = lanes.lanes.flatMap((lane) => lane.priorities);
  return [
    new Set(names).size < names.length &&
      fault("delivery.priority_lanes.lanes", "must not name a lane twice", "give each lane a name of its own"),
    new Set(priorities).size < priorities.length &&
      fault("delivery.priority_lanes.lanes", "must not name a priority twice", "keep it in one lane"),
    !names.includes(lanes.default_lane) &&
      fault("delivery.priority_lanes.default_lane", "must name one of delivery.priority_lanes.lanes", "add the lane or name another"),
  ];
});

const poison = crossCheck(["delivery", "dead_letter"], ({ delivery, dead_letter: deadLetter }) => [
  delivery.on_poison === "dead_letter_and_continue" &&
    !deadLetter.enabled &&
    fault("delivery.on_poison", "dead_letter_and_continue needs dead letters", "set dead_letter.enabled to true, or use stop or park_key"),
]);

const deadLetterSubject = crossCheck(
  ["nats", "consumer_management", "dead_letter"],
  ({ nats, consumer_management: consumer, dead_letter: deadLetter }) => {
    const { enabled, subject } = deadLetter;
    if (subject === null)
      return [
        enabled && fault("dead_letter.subject", "required key is missing", "dead_letter.enabled needs a subject that a stream captures"),
      ];
    const filters = consumer.filter_subjects.length > 0 ? consumer.filter_subjects : [nats.subject];
    return [
      filters.some((filter) => subjectContains(filter, subject)) &&
        fault(
          "dead_letter.subject",
          "lies inside the consumer's own filter, so dead letters would come back as messages",
          "use a subject outside nats.subject",
        ),
    ];
  },
);

const logging = crossCheck(["logging"], ({ logging }) => [
  logging.payload_logging && fault("logging.payload_logging", "payloads are never logged", "set it to false or remove it"),
]);

/** Rules between the keys of delivery, dead letters and logging (FW-CFG-06, FW-CFG-09, FW-CFG-10, FW-RUN-36). */
export const deliveryChecks = [window, retry, lanes, poison, deadLetterSubject, logging];

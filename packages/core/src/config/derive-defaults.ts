import type { ConfigurationSections } from "./schema.js";
import { writesBesidesInsert } from "./write-operations.js";

type Delivery = ConfigurationSections["delivery"];
type Derived = "max_messages_in_flight" | "ordering" | "on_poison" | "ack_mode";

/** `delivery` once the defaults that depend on other keys are there. */
export type DerivedDelivery = Omit<Delivery, Derived> & { [Key in Derived]: NonNullable<Delivery[Key]> };

/** Fills the keys whose default depends on other keys (FW-CFG-09, FW-RUN-36). */
export function deriveDefaults(sections: ConfigurationSections): Omit<ConfigurationSections, "delivery"> & { delivery: DerivedDelivery } {
  const { delivery, consumer_management: consumer, dead_letter: deadLetter, sink } = sections;
  const room = delivery.batch_size * (delivery.max_in_flight_batches + 1);
  return {
    ...sections,
    delivery: {
      ...delivery,
      max_messages_in_flight: delivery.max_messages_in_flight ?? Math.min(room, consumer.max_ack_pending ?? room),
      ordering: delivery.ordering ?? (writesBesidesInsert(sink) ? "strict" : "none"),
      on_poison: delivery.on_poison ?? (deadLetter.enabled ? "dead_letter_and_continue" : "stop"),
      ack_mode: delivery.ack_mode ?? (delivery.ack_confirmation.enabled ? "confirmed" : "batch_confirmed"),
    },
  };
}

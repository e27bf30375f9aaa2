import { consumerChecks } from "./checks/consumer-checks.js";
import type { CrossCheck } from "./checks/cross-check.js";
import { deliveryChecks } from "./checks/delivery-checks.js";
import { natsChecks } from "./checks/nats-checks.js";
import { policyChecks } from "./checks/policy-checks.js";
import { routingChecks } from "./checks/routing-checks.js";
import type { ConfigurationFault } from "./faults.js";
import type { ConfigurationSections } from "./schema.js";

const checks: readonly CrossCheck[] = [...natsChecks, ...consumerChecks, ...deliveryChecks, ...routingChecks, ...policyChecks];

/** Every broken rule between keys, as far as the sections concerned are valid by themselves. */
export function crossCheckFaults(sections: Partial<ConfigurationSections>): ConfigurationFault[] {
  return checks
    .filter((check) => check.sections.every((name) => sections[name] !== undefined))
    .flatMap((check) => check.find(sections as ConfigurationSections));
}

import { z } from "zod";
import { deriveDefaults } from "./derive-defaults.js";
import { plainText } from "./scalar.js";
import { advisoriesSection } from "./sections/advisories-section.js";
import { consumerManagementSection } from "./sections/consumer-management-section.js";
import { custodySection } from "./sections/custody-section.js";
import { deadLetterSection } from "./sections/dead-letter-section.js";
import { deliverySection } from "./sections/delivery-section.js";
import { encryptionSection } from "./sections/encryption-section.js";
import { idempotencySection } from "./sections/idempotency-section.js";
import { loggingSection } from "./sections/logging-section.js";
import { messageAuthenticitySection } from "./sections/message-authenticity-section.js";
import { messageMetadataSection } from "./sections/message-metadata-section.js";
import { metricsSection } from "./sections/metrics-section.js";
import { missionMetadataSection } from "./sections/mission-metadata-section.js";
import { natsSection } from "./sections/nats-section.js";
import { pluginsSection } from "./sections/plugins-section.js";
import { preSinkPolicySection } from "./sections/pre-sink-policy-section.js";
import { pushConsumerSection } from "./sections/push-consumer-section.js";
import { routingSection } from "./sections/routing-section.js";
import { securityLabelsSection } from "./sections/security-labels-section.js";
import { sinkSection, sinksSection } from "./sections/sink-section.js";
import { sizePolicySection } from "./sections/size-policy-section.js";

/** Every section, before defaults that depend on other keys are derived. */
export const configurationSections = z.strictObject({
  name: plainText(128).optional().describe("Name of the pipeline; part of ledger records, by default `<stream>/<consumer>/<sink>`."),
  nats: natsSection,
  sink: sinkSection,
  consumer_management: consumerManagementSection.prefault({}),
  delivery: deliverySection,
  dead_letter: deadLetterSection,
  idempotency: idempotencySection,
  logging: loggingSection,
  message_metadata: messageMetadataSection,
  plugins: pluginsSection,
  push_consumer: pushConsumerSection.prefault({}),
  routing: routingSection,
  sinks: sinksSection,
  mission_metadata: missionMetadataSection,
  security_labels: securityLabelsSection,
  size_policy: sizePolicySection,
  pre_sink_policy: preSinkPolicySection,
  encryption: encryptionSection,
  message_authenticity: messageAuthenticitySection,
  custody: custodySection,
  metrics: metricsSection,
  advisories: advisoriesSection,
});

/** The sections as parsed, some keys still null until their defaults are derived. */
export type ConfigurationSections = z.output<typeof configurationSections>;

/** The whole configuration of a pipeline (FW-CFG): strict at every depth, every section present after parsing. */
export const configurationSchema = configurationSections.transform(deriveDefaults);

/** A configuration whose every key has its value; secrets stay in their wrapper, and by name until they are resolved. */
export type Configuration = z.output<typeof configurationSchema>;

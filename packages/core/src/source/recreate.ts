import { type ConsumerConfig, DeliverPolicy, type JetStreamManager, type StreamInfo } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import type { ServerFeatures } from "./consumer.js";
import { strandedKey } from "./consumer-mark.js";
import { newConsumer, recreatedKey, statedConsumer } from "./consumer-settings.js";
import { nextSequence } from "./sequence.js";
import type { BeforeRecreation } from "./source-events.js";

/**
 * Makes a consumer that was deleted under way again (FW-RUN-05): one above the highest sequence below which every
 * matching message was acked, so that nothing unacked is passed over. A work queue starts from all, because what was
 * acked is gone from it.
 */
export async function recreateConsumer(
  manager: JetStreamManager,
  configuration: Configuration,
  stream: StreamInfo,
  { ackedBelow, mark }: BeforeRecreation,
  features: ServerFeatures,
  group: string | null,
  pinTimeoutMs: number,
): Promise<void> {
  const stated = statedConsumer(configuration, group, pinTimeoutMs);
  const config: ConsumerConfig = newConsumer(configuration, stated);
  if (features.current) {
    const stranded = mark === null ? {} : { [strandedKey]: mark };
    config.metadata = { ...config.metadata, [recreatedKey]: String(ackedBelow), ...stranded };
  }
  delete config.opt_start_seq;
  delete config.opt_start_time;
  if (stream.config.retention === "workqueue" || ackedBelow <= 0) {
    config.deliver_policy = DeliverPolicy.All;
  } else {
    config.deliver_policy = DeliverPolicy.StartSequence;
    config.opt_start_seq = Number(nextSequence(ackedBelow));
  }
  await manager.consumers.add(configuration.nats.stream, config);
}

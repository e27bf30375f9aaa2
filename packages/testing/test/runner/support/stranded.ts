import { expect } from "vitest";
import type { Stage } from "./stage.js";

/** Has every message delivered twice, the most the consumer allows, to a process that never answers. */
export async function deliverInVain(stage: Stage, count: number, ackWaitMs = 300): Promise<void> {
  await stage.addConsumer({ max_deliver: 2, ack_wait: ackWaitMs * 1e6 });
  await stage.fill(count);
  await takeTwice(stage, count);
}

/** Takes this many messages twice and answers none of them. */
export async function takeTwice(stage: Stage, count: number): Promise<void> {
  const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
  for (let delivery = 1; delivery <= 2; delivery += 1) {
    let taken = 0;
    while (taken < count) {
      for await (const message of await consumer.fetch({ max_messages: count - taken, expires: 5000 })) {
        expect(message.info.deliveryCount).toBe(delivery);
        taken += 1;
      }
    }
  }
}

/** The same, until the server has given all of them up. */
export async function strand(stage: Stage, count: number): Promise<void> {
  await deliverInVain(stage, count);
  await giveUp(stage);
}

/** Asks for more until the server has given all up: it does so only while somebody asks. */
export async function giveUp(stage: Stage): Promise<void> {
  const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
  while ((await stage.consumerInfo()).num_ack_pending > 0) expect(await consumer.next({ expires: 1000 })).toBeNull();
}

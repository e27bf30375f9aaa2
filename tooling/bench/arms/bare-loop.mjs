/**
 * The hand-written loop that the runner is compared with: the client's `consume` with a callback, batches of 1000, all
 * acknowledged plainly but the last, whose acknowledgement is confirmed. `write` gets each batch first.
 */
import { connect, consumerSettings, measure, settings, untilAcknowledged } from "./arm.mjs";

const batchSize = 1_000;
const batchesInFlight = 4;

/** Consumes the whole stream; `write` resolves once a batch is durable. */
export async function bareLoop(write) {
  await measure(async () => {
    const { connection, client, manager } = await connect();
    await manager.consumers.add(settings.stream, { durable_name: settings.consumer, ...consumerSettings });
    const consumer = await client.consumers.get(settings.stream, settings.consumer);
    const settled = [];
    let batch = [];
    let received = 0;
    let allReceived = () => undefined;
    const all = new Promise((resolve) => {
      allReceived = resolve;
    });
    const messages = await consumer.consume({
      max_messages: batchSize * (batchesInFlight + 1),
      callback(message) {
        batch.push(message);
        received += 1;
        if (batch.length < batchSize && received < settings.count) return;
        settled.push(settle(batch, write));
        batch = [];
        if (received === settings.count) allReceived();
      },
    });
    await all;
    await Promise.all(settled);
    await untilAcknowledged(manager);
    return {
      async finish() {
        messages.stop();
        await connection.close();
      },
    };
  });
}

async function settle(batch, write) {
  await write(batch);
  const last = batch.length - 1;
  for (let index = 0; index < last; index += 1) batch[index].ack();
  await batch[last].ackAck();
}

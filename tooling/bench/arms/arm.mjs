import { setTimeout as wait } from "node:timers/promises";
import { importFrom } from "../../built.mjs";

const transport = await importFrom("packages/core", "@nats-io/transport-node");
const jetstreamClient = await importFrom("packages/core", "@nats-io/jetstream");

/** What the parent asked of this arm. */
export const settings = JSON.parse(process.argv[2]);

/** Settings of the consumer, the same for every arm: those that a runner gives the consumer it makes. */
export const consumerSettings = { ack_policy: "explicit", deliver_policy: "all", max_ack_pending: 20_000 };

/** Connects as every arm does. */
export async function connect() {
  const connection = await transport.connect({ servers: settings.url });
  const client = jetstreamClient.jetstream(connection);
  return { connection, client, manager: await jetstreamClient.jetstreamManager(connection) };
}

/** Waits until the server has every message of the consumer acknowledged. */
export async function untilAcknowledged(manager) {
  for (;;) {
    const {
      ack_floor: floor,
      num_pending: unread,
      num_ack_pending: unsettled,
    } = await manager.consumers.info(settings.stream, settings.consumer);
    if (unread === 0 && unsettled === 0 && floor.stream_seq === settings.count) return;
    await wait(2);
  }
}

/**
 * Measures `work` from before it connects until the server has every acknowledgement; prints wall time and the CPU time
 * of this process. Modules are loaded before, so that both sides of a comparison pay for the same things.
 */
export async function measure(work) {
  const begin = process.hrtime.bigint();
  const cpu = process.cpuUsage();
  const { finish, ...facts } = await work();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  await finish();
  process.stdout.write(`${JSON.stringify({ messages: settings.count, seconds, cpuMicroseconds: user + system, ...facts })}\n`);
}

import type { NatsConnection } from "@nats-io/transport-node";
import type { Telemetry } from "../telemetry/port.js";
import { pause } from "./pause.js";

/** Time the server has for the answer to a ping. */
const answerMs = 2000;

/**
 * Replaces a connection that takes everything and answers nothing: half open, its other end is gone without a word. The
 * client's own pings would notice after minutes. A server that answers pings and nothing else keeps its connection.
 */
export async function replaceHalfOpen(connection: NatsConnection, telemetry: Telemetry, signal: AbortSignal): Promise<void> {
  if (connection.isClosed()) return;
  const answered = connection.flush().then(
    () => true,
    () => true,
  );
  const silent = pause(answerMs, signal).then(() => signal.aborted);
  if (await Promise.race([answered, silent])) return;
  telemetry.log("warn", "the server answers nothing on this connection; connecting again");
  await connection.reconnect().catch(() => undefined);
}

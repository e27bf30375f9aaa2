import { Pool } from "pg";
import { type ConnectedTo, SettledClient } from "./connect-attempt.js";
import type { ConnectionSettings } from "./connection-settings.js";

const lingerMs = 1_000;

/**
 * A pool for handlers that read (WO-GEN-20). It connects when it is used, to the server that `target` names then: the one
 * that the last connection of the sink went to.
 */
export function handlerPool(
  settings: ConnectionSettings,
  target: () => ConnectedTo,
  { size, acquireTimeoutMs }: { readonly size: number; readonly acquireTimeoutMs: number },
): Pool {
  class FollowingClient extends SettledClient {
    constructor() {
      super(settings, target());
    }
  }
  const pool = new Pool({ max: size, Client: FollowingClient, connectionTimeoutMillis: acquireTimeoutMs });
  // Without a listener an idle connection that breaks would end the process.
  pool.on("error", () => undefined);
  return pool;
}

/** Ends the pool; a handler that keeps a connection is not waited for longer than a second. */
export async function endHandlerPool(pool: Pool): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, lingerMs);
  });
  await Promise.race([pool.end(), late]);
  clearTimeout(timer);
}

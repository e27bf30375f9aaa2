import { Connection } from "pg";
import type { ConnectedTo } from "./connect-attempt.js";

/** What names a running query to the server. */
export interface CancelKey {
  readonly processID: number;
  readonly secretKey: number;
}

/** The part of the driver's connection that asks for a cancel; its declarations leave it out. */
interface CancelConnection {
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * Asks the server to end what a connection is running, over a connection of its own (WO-PG-34). Resolves when the server has
 * taken it, or when it cannot be asked: the caller destroys the connection in any case.
 */
export function cancelQuery({ host, port, tls, directTls }: ConnectedTo, key: CancelKey, limitMs: number): Promise<void> {
  const connection = new Connection({ ssl: tls, sslnegotiation: directTls ? "direct" : "postgres" });
  const { connect, requestSsl, cancel } = connection as unknown as CancelConnection;
  const ask = () => cancel.call(connection, key.processID, key.secretKey);
  return new Promise((resolve) => {
    const timer = setTimeout(() => connection.stream.destroy(), limitMs);
    connection.once("end", () => {
      clearTimeout(timer);
      resolve();
    });
    connection.on("error", () => connection.stream.destroy());
    connection.once("sslconnect", ask);
    connection.once("connect", () => {
      if (tls === false) ask();
      else if (!directTls) requestSsl.call(connection);
    });
    connect.call(connection, port, host);
  });
}

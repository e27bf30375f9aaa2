import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Telemetry } from "../telemetry/port.js";
import { type PageSource, pageAt } from "./pages.js";
import { WaitingClients } from "./waiting-clients.js";

/** Where a server listens. */
export interface ListenAddress {
  /** Empty for every address of the machine. */
  readonly host: string;
  readonly port: number;
}

/** A server of health and metrics; disposing closes it with its connections. */
export interface HealthServer extends AsyncDisposable {
  /** The port it listens on; null while it does not. */
  readonly port: number | null;
}

const mostWaiting = 64;
/** Above those that wait: what is being answered, which is over in no time. */
const mostConnections = 256;
const requestMs = 2000;
const checkMs = 500;
const retryMs = 5000;

/** Takes `host:port`, `:port` and `[address]:port` apart. */
export function listenAddress(text: string): ListenAddress {
  const at = text.lastIndexOf(":");
  const host = text.slice(0, at);
  return { host: host.startsWith("[") ? host.slice(1, -1) : host, port: Number(text.slice(at + 1)) };
}

/**
 * Serves pages until disposed. An address that cannot be had is told once and tried again: delivery goes on without
 * (FW-OBS-06). Bounded in connections and time; it reads no body and keeps the process from ending in no case.
 */
export function serveHealth(address: ListenAddress, source: PageSource, telemetry: Telemetry): HealthServer {
  const waiting = new WaitingClients(mostWaiting);
  const server = createServer(
    { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs },
    (request, response) => {
      waiting.end(request.socket);
      answer(request, response, source, telemetry);
    },
  );
  server.on("connection", (socket) => waiting.begin(socket));
  server.maxConnections = mostConnections;
  server.unref();
  let retry: NodeJS.Timeout | null = null;
  let told = false;
  let closed = false;
  const listen = (): void => void server.listen({ port: address.port, ...(address.host === "" ? {} : { host: address.host }) });
  server.on("listening", () => {
    told = false;
    telemetry.log("info", "health is served", { port: portOf(server) });
  });
  server.on("error", (error: NodeJS.ErrnoException) => {
    telemetry.count("observation_errors_total");
    if (!told) telemetry.log("warn", "health cannot be served; tried again", { code: error.code ?? error.name, port: address.port });
    told = true;
    if (closed || server.listening) return;
    retry = setTimeout(listen, retryMs);
    retry.unref();
  });
  listen();
  return {
    get port() {
      return portOf(server);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      if (retry !== null) clearTimeout(retry);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function portOf(server: Server): number | null {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : null;
}

function answer(request: IncomingMessage, response: ServerResponse, source: PageSource, telemetry: Telemetry): void {
  response.on("error", () => telemetry.count("observation_errors_total"));
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Connection", "close");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { Allow: "GET, HEAD" }).end();
    return;
  }
  try {
    const { code, type, body } = pageAt((request.url ?? "/").split("?", 1)[0] as string, request.headers.accept ?? "", source);
    response.writeHead(code, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
    response.end(request.method === "HEAD" ? undefined : body);
  } catch {
    telemetry.count("observation_errors_total");
    response.writeHead(500).end();
  }
}

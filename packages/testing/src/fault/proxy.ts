import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../service/free-port.js";
import { type ByteFilter, ProxyLink, type ProxyMode } from "./proxy-link.js";

/** Where the proxy connects to, and what it may take out of the streams. */
export interface ProxyOptions {
  readonly port: number;
  /** Host of the target; 127.0.0.1 by default. */
  readonly host?: string;
  /** Makes one filter per connection for the bytes that go to the client. */
  readonly toClient?: () => ByteFilter;
  /** Makes one filter per connection for the bytes that go to the server. */
  readonly toServer?: () => ByteFilter;
}

/** A TCP proxy on 127.0.0.1 whose connections can be disturbed at any time. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now. */
  readonly connections: number;
  /** Bytes that went through since the start. */
  readonly bytes: { readonly toServer: number; readonly toClient: number };
  /** Ends every disturbance. Connections that lost bytes are reset, since their streams have a hole. */
  pass(): Promise<void>;
  /** New connections are refused; open ones stay: `cut` ends them. */
  refuse(): Promise<void>;
  /** Resets every open connection; new ones are as before. */
  cut(): void;
  /** Nothing goes through in either direction, connections stay open; `pass` lets what was held go on. */
  hold(): void;
  /** What the server sends is thrown away: requests arrive, their answers are lost. */
  dropReplies(): void;
  /** Everything goes through so many milliseconds later, in order. */
  delay(milliseconds: number): void;
}

/** Starts a proxy in front of a server. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const links = new Set<ProxyLink>();
  const bytes = { toServer: 0, toClient: 0 };
  let mode: ProxyMode = { kind: "pass" };
  let listener: Server | null = null;
  const port = await freePort();

  const accept = (client: Socket) => {
    const server = connect({ host: options.host ?? "127.0.0.1", port: options.port, noDelay: true, allowHalfOpen: true });
    const link = new ProxyLink(client, server, mode, bytes, { toServer: options.toServer?.(), toClient: options.toClient?.() });
    links.add(link);
    void link.closed.then(() => links.delete(link));
  };
  const listen = async () => {
    if (listener !== null) return;
    const fresh = createServer({ noDelay: true, allowHalfOpen: true, pauseOnConnect: true }, accept);
    await new Promise<void>((resolve, reject) => {
      fresh.once("error", reject);
      fresh.listen({ host: "127.0.0.1", port }, resolve);
    });
    fresh.unref();
    listener = fresh;
  };
  const unlisten = () => {
    // Its callback would wait for open connections, which stay: it stops listening at once.
    listener?.close();
    listener = null;
  };
  const change = (next: ProxyMode) => {
    mode = next;
    for (const link of links) link.change(next);
  };
  const cut = () => {
    for (const link of links) link.reset();
  };
  await listen();
  return {
    port,
    get connections() {
      return links.size;
    },
    bytes,
    async pass() {
      change({ kind: "pass" });
      await listen();
    },
    refuse: async () => unlisten(),
    cut,
    hold: () => change({ kind: "hold" }),
    dropReplies: () => change({ kind: "drop-replies" }),
    delay: (milliseconds) => change({ kind: "delay", milliseconds }),
    async [Symbol.asyncDispose]() {
      unlisten();
      const closing = [...links].map((link) => link.closed);
      cut();
      await Promise.all(closing);
    },
  };
}

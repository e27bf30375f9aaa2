import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../service/free-port.js";
import { ProxyLink } from "./proxy-link.js";
import { type ProxyDirection, type ProxyEnd, type ProxyMode, type ProxyModes, passing, withMode } from "./proxy-mode.js";
import type { ByteFilter } from "./proxy-stream.js";

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

/**
 * A TCP proxy on 127.0.0.1 whose connections can be disturbed at any time. A disturbance is for open and new connections
 * alike and lasts until another one of its direction or `pass` replaces it; without a direction it is for both.
 */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now. */
  readonly connections: number;
  /** Bytes that went through since the start, and those that were thrown away. */
  readonly bytes: { readonly toServer: number; readonly toClient: number; readonly lost: number };
  /** Ends every disturbance. Connections that lost bytes or an end are reset, since their streams have a hole. */
  pass(): Promise<void>;
  /** New connections are refused; open ones stay: `cut` ends them. */
  refuse(): Promise<void>;
  /** Resets every open connection; new ones are as before. */
  cut(): void;
  /** Nothing goes through, connections stay open; `pass` lets what was held go on. */
  hold(direction?: ProxyDirection): void;
  /** Bytes are thrown away while connections stay open, as by a route that is gone. */
  drop(direction?: ProxyDirection): void;
  /** What the server sends is thrown away: requests arrive, their answers are lost. The same as `drop("toClient")`. */
  dropReplies(): void;
  /** Everything goes through so many milliseconds later, in order. */
  delay(milliseconds: number, direction?: ProxyDirection): void;
  /** So many bytes a second go through on each connection; the sender feels the pressure. */
  throttle(bytesPerSecond: number, direction?: ProxyDirection): void;
  /**
   * One end of every open connection vanishes (the server's by default) and the other is not told: its socket stays open and
   * silent. New connections are as before.
   */
  halfOpen(gone?: ProxyEnd): void;
}

/** Starts a proxy in front of a server. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const links = new Set<ProxyLink>();
  const bytes = { toServer: 0, toClient: 0, lost: 0 };
  let modes: ProxyModes = passing;
  let listener: Server | null = null;
  const port = await freePort();

  const accept = (client: Socket) => {
    const server = connect({ host: options.host ?? "127.0.0.1", port: options.port, noDelay: true, allowHalfOpen: true });
    const link = new ProxyLink(client, server, modes, bytes, { toServer: options.toServer?.(), toClient: options.toClient?.() });
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
  const change = (next: ProxyModes) => {
    modes = next;
    for (const link of links) link.change(next);
  };
  const disturb = (mode: ProxyMode, direction: ProxyDirection = "both") => change(withMode(modes, direction, mode));
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
      change(passing);
      await listen();
    },
    refuse: async () => unlisten(),
    cut,
    hold: (direction) => disturb({ kind: "hold" }, direction),
    drop: (direction) => disturb({ kind: "drop" }, direction),
    dropReplies: () => disturb({ kind: "drop" }, "toClient"),
    delay: (milliseconds, direction) => disturb({ kind: "delay", milliseconds }, direction),
    throttle(bytesPerSecond, direction) {
      if (!(bytesPerSecond > 0)) throw new RangeError("a throttle lets at least some bytes through; hold stops them");
      disturb({ kind: "throttle", bytesPerSecond }, direction);
    },
    halfOpen(gone = "server") {
      for (const link of links) link.lose(gone);
    },
    async [Symbol.asyncDispose]() {
      unlisten();
      const closing = [...links].map((link) => link.closed);
      cut();
      await Promise.all(closing);
    },
  };
}

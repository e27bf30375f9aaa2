import { connect } from "node:net";

/** A greeting is one line; the rest of a longer one says nothing of the version. */
const mostBytes = 65_536;
const numbers = /\d+\.\d+\.\d+/;

/**
 * The version that a server greets with, when it is none that the client can take: the client then gives up without a word. Null
 * when the version is in order, and when the server greets with TLS, with something else, or not within `limitMs`.
 */
export async function unusableVersion(address: URL, limitMs: number): Promise<string | null> {
  const greeting = await firstLine(address.hostname.replace(/^\[|\]$/g, ""), Number(address.port || 4222), limitMs);
  const version = /^INFO .*"version":"((?:[^"\\]|\\.){0,100})"/.exec(greeting)?.[1] ?? null;
  return version === null || numbers.test(version) ? null : version;
}

function firstLine(host: string, port: number, limitMs: number): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ host, port });
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(limitMs, end);
    socket.on("error", end);
    socket.on("close", end);
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8");
      if (text.includes("\n") || text.length > mostBytes) end();
    });
  });
}

import { createServer } from "node:net";

// Below the range from which systems take ports for outgoing connections, so that none of those can step in between
// this probe and the server's own listen.
const lowest = 20_000;
const count = 10_000;

/** Finds a TCP port of 127.0.0.1 that nobody listens on. Another process may still take it: retry when the server says so. */
export async function freePort(random: () => number = Math.random): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = lowest + Math.floor(random() * count);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found between ${lowest} and ${lowest + count - 1} in 100 attempts`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: "127.0.0.1", port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

import type { RunningServer } from "./running-server.js";

/** What a server that somebody else runs cannot be told; `launcher` names the function to ask for an own one. */
export function sharedServer(
  variable: string,
  launcher: string,
): Omit<RunningServer, "url" | "port" | "version"> & { refuse(): Promise<never> } {
  const refuse = () =>
    Promise.reject(new Error(`the server of ${variable} is shared: ask ${launcher} for an own one ({ ownServer: true })`));
  return {
    origin: variable,
    own: false,
    pid: null,
    log: async () => "",
    stop: refuse,
    kill: refuse,
    freeze: refuse,
    thaw: refuse,
    refuse,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

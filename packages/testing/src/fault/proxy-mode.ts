/** Which bytes a disturbance is for. */
export type ProxyDirection = "toServer" | "toClient" | "both";

/** One of the two ends of a connection through the proxy. */
export type ProxyEnd = "server" | "client";

/** How the bytes of one direction are treated at present. */
export type ProxyMode =
  | { readonly kind: "pass" | "hold" | "drop" }
  | { readonly kind: "delay"; readonly milliseconds: number }
  | { readonly kind: "throttle"; readonly bytesPerSecond: number };

/** The modes of both directions. */
export interface ProxyModes {
  readonly toServer: ProxyMode;
  readonly toClient: ProxyMode;
}

/** No disturbance. */
export const passing: ProxyModes = { toServer: { kind: "pass" }, toClient: { kind: "pass" } };

/** The modes with one direction, or both, changed. */
export function withMode(modes: ProxyModes, direction: ProxyDirection, mode: ProxyMode): ProxyModes {
  return {
    toServer: direction === "toClient" ? modes.toServer : mode,
    toClient: direction === "toServer" ? modes.toClient : mode,
  };
}

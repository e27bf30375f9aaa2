export { natsFilter } from "./fault/nats-filter.js";
export { type NatsFrame, NatsFrameReader } from "./fault/nats-frames.js";
export { type Proxy, type ProxyOptions, startProxy } from "./fault/proxy.js";
export type { ByteFilter } from "./fault/proxy-link.js";
export { mountSmall, type SmallMount, type SmallMountResult } from "./fault/small-mount.js";
export { startVictim, type Victim, type VictimExit, type VictimOptions } from "./fault/victim.js";

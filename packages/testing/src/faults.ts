export { natsFilter } from "./fault/nats-filter.js";
export { type NatsFrame, NatsFrameReader } from "./fault/nats-frames.js";
export { type Proxy, type ProxyOptions, startProxy } from "./fault/proxy.js";
export type { ByteFilter } from "./fault/proxy-link.js";
export { type SmallMount, type SmallMountResult, mountSmall } from "./fault/small-mount.js";
export { type Victim, type VictimExit, type VictimOptions, startVictim } from "./fault/victim.js";

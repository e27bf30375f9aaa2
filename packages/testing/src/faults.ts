export { createFakeClock, type FakeClock, type FakeClockOptions } from "./fault/fake-clock.js";
export { type FaultPoints, faultPoints, type KillAt } from "./fault/fault-points.js";
export { natsCopies, natsFilter, onSubject } from "./fault/nats-filter.js";
export { type NatsFrame, NatsFrameReader } from "./fault/nats-frames.js";
export { type Proxy, type ProxyOptions, startProxy } from "./fault/proxy.js";
export type { ProxyDirection, ProxyEnd } from "./fault/proxy-mode.js";
export type { ByteFilter } from "./fault/proxy-stream.js";
export { mountSmall, type SmallMount, type SmallMountResult } from "./fault/small-mount.js";
export { startVictim, type Victim, type VictimExit, type VictimOptions } from "./fault/victim.js";

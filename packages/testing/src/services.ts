export { type EventuallyOptions, eventually } from "./eventually.js";
export { freePort } from "./service/free-port.js";
export { type NatsCluster, type NatsClusterOptions, startNatsCluster } from "./service/nats-cluster.js";
export type { NatsOptions, NatsRestart, NatsServer } from "./service/nats-server.js";
export { type ProcessState, processState } from "./service/process-state.js";
export { startNats } from "./service/start-nats.js";
export { makeTemporaryFolder, type TemporaryFolder } from "./service/temporary-folder.js";

import { cpus, loadavg, totalmem } from "node:os";

/** What the figures were measured on. */
export function describeMachine(nats) {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown processor",
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    nats: nats.version,
    loadAtStart: Number(loadavg()[0].toFixed(2)),
  };
}

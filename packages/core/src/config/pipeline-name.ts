import type { Configuration } from "./schema.js";

/** What a ledger knows a pipeline by: its configured name, else `<stream>/<consumer>/<sink>` (FW-LED-01). */
export function pipelineName({ name, nats }: Pick<Configuration, "name" | "nats">, sinkName: string): string {
  return name ?? `${nats.stream}/${nats.consumer}/${sinkName}`;
}

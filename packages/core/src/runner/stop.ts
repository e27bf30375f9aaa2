import type { JetStreamSource } from "../source/jetstream-source.js";
import { pause } from "../source/pause.js";
import type { Telemetry } from "../telemetry/port.js";
import type { Clock } from "./clock.js";
import type { Pipeline } from "./pipeline.js";
import type { PipelineSettings } from "./pipeline-settings.js";

/** The parts a stop brings to rest. */
export interface StoppingParts {
  readonly source: JetStreamSource;
  readonly pipeline: Pipeline;
  readonly settings: PipelineSettings;
  /** Aborted when the process is about to leave: nothing is waited for any more. */
  readonly leaving: AbortController;
}

const lookMs = 5;
const unpinMs = 1000;

/**
 * Stops in phases (FW-RUN-28): no new pull; what was received is written and settled; at half of the time no write begins any
 * more, and what is unstarted is given back once no pull is open; at the whole of it writes are aborted; a grace later nothing
 * is waited for. Held messages are given back last. Duplicates may follow, loss may not. False when writes were left behind
 * that did not end.
 */
export async function stopPipeline(parts: StoppingParts, clock: Clock, telemetry: Telemetry): Promise<boolean> {
  const { source, pipeline, settings, leaving } = parts;
  const began = clock.now();
  const at = (ms: number): number => began + ms;
  pipeline.stopPulling();
  let quiet = false;
  void source.quiet(leaving.signal).then(() => {
    quiet = true;
  });
  let aborted = false;
  while (!(quiet && pipeline.drained)) {
    const now = clock.now();
    if (now >= at(settings.shutdownMs / 2) || pipeline.pausedReason !== null) {
      pipeline.finish();
      // Given back while a pull is open it would come straight back, again and again, and use up its deliveries.
      if (quiet || now >= at(settings.shutdownMs)) {
        source.endPulls();
        pipeline.giveBackUnstarted();
      }
    }
    if (now >= at(settings.shutdownMs) && !aborted) {
      aborted = true;
      telemetry.log("warn", "shutdown time is over; writes are aborted", { writes: pipeline.activeWrites });
      pipeline.abortWrites();
    }
    if (now >= at(settings.shutdownMs + settings.abortGraceMs)) {
      telemetry.log("error", "leaving with writes that did not end; their messages are left to redelivery", {
        writes: pipeline.activeWrites,
      });
      break;
    }
    if (aborted && pipeline.onlySettles) break;
    if (!source.maySettle && pipeline.onlySettles && now >= at(settings.shutdownMs / 2)) {
      telemetry.log("warn", "leaving with acks that cannot be sent; stored messages are delivered again");
      break;
    }
    await pause(lookMs, leaving.signal);
  }
  const clean = pipeline.activeWrites === 0;
  pipeline.giveBackHeld();
  leaving.abort();
  pipeline.dispose();
  await unpin(source, telemetry);
  return clean;
}

/** Hands an ordered consumer on at once; without a connection the pin ends by itself. */
async function unpin(source: JetStreamSource, telemetry: Telemetry): Promise<void> {
  if (!source.connected) return;
  const given = source.unpin().catch(() => telemetry.log("debug", "could not unpin"));
  const ended = new AbortController();
  await Promise.race([given, pause(unpinMs, ended.signal)]);
  ended.abort();
}

import { hasPreflight } from "../connector/abilities.js";
import type { Check } from "../connector/preflight.js";
import type { Sink } from "../connector/sink.js";
import { ConfigurationError } from "../error/errors.js";
import type { Telemetry } from "../telemetry/port.js";

/** Asks a destination for its own checks before its sink starts (FW-RUN-02), and says each warning once. */
export class DestinationCheck {
  readonly #telemetry: Telemetry;
  readonly #warned = new Set<string>();

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  /** Rejects with a `ConfigurationError` that names what failed with its remedy, or with what kept the sink from asking. */
  async ask(sink: Sink, signal: AbortSignal): Promise<void> {
    if (!hasPreflight(sink)) return;
    const checks = await sink.preflight(signal, "start");
    for (const check of checks) if (check.status === "warn") this.#warn(check);
    const failed = checks.filter(({ status }) => status === "fail");
    if (failed.length > 0) throw new ConfigurationError(failed.map(textOf).join("; "));
  }

  #warn(check: Check): void {
    if (this.#warned.has(check.id)) return;
    this.#warned.add(check.id);
    this.#telemetry.log("warn", textOf(check));
  }
}

function textOf({ id, message, remedy }: Check): string {
  return `sink.${id}: ${message}${remedy === null ? "" : `; ${remedy}`}`;
}

import type { Configuration } from "../config/schema.js";
import { SinksError } from "../error/errors.js";
import { apiFault } from "./api-fault.js";
import { type ConsumerState, findConsumer } from "./consumer.js";
import type { Link } from "./link.js";

/** Metadata of a consumer that keeps which messages it may never deliver again (FW-RUN-21). */
export const strandedKey = "_sinks.stranded";

/** Kept by the server; or refused for good: an old server, or a login that may not. */
export type MarkResult = "kept" | "refused";

/** The mark as it stands in a reading of the consumer. */
export function markOf({ config }: ConsumerState): string | null {
  return config.metadata?.[strandedKey] ?? null;
}

/**
 * Keeps a text in the metadata of the pipeline's consumer. An update replaces all metadata, and the server compares nothing:
 * `change` gets what stands there now, and whoever writes at the same time may win.
 */
export class ConsumerMark {
  readonly #configuration: Configuration;
  readonly #link: () => Link;
  /** Creation time of the consumer that is meant. */
  readonly #createdAt: () => string;

  constructor(configuration: Configuration, link: () => Link, createdAt: () => string) {
    this.#configuration = configuration;
    this.#link = link;
    this.#createdAt = createdAt;
  }

  /** Rejects when the server does not answer, or the consumer is not the one that is meant. */
  async update(change: (text: string | null) => string | null): Promise<MarkResult> {
    const { manager, features } = this.#link();
    if (!features.current) return "refused";
    const { stream, consumer: name } = this.#configuration.nats;
    const consumer = await findConsumer(manager, stream, name);
    if (consumer === null || consumer.created !== this.#createdAt()) {
      throw new SinksError(`nats: consumer "${name}" is missing or another one`, { code: "consumer_missing" });
    }
    const before = markOf(consumer);
    const text = change(before);
    if (text === before) return "kept";
    try {
      await manager.consumers.update(stream, name, { metadata: withMark(consumer.config.metadata, text) });
      return "kept";
    } catch (error) {
      const fault = apiFault(error);
      if (fault === "permission" || fault === "refused") return "refused";
      throw error;
    }
  }
}

/** The server writes its own keys by itself. */
function withMark(metadata: Readonly<Record<string, string>> | undefined, text: string | null): Record<string, string> {
  const others = Object.entries(metadata ?? {}).filter(([key]) => key !== strandedKey && !key.startsWith("_nats."));
  return Object.fromEntries(text === null ? others : [...others, [strandedKey, text]]);
}

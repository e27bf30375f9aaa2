import { type NatsFrame, NatsFrameReader } from "./nats-frames.js";
import type { ByteFilter } from "./proxy-link.js";

/**
 * A filter for `startProxy` that understands NATS: operations for which `drop` answers true are taken out whole, so
 * that the connection stays usable. Works for either direction; not under TLS.
 */
export function natsFilter(drop: (frame: NatsFrame) => boolean): () => ByteFilter {
  return () => {
    const reader = new NatsFrameReader();
    return {
      push(chunk) {
        const kept = reader.push(chunk).filter((frame) => !drop(frame));
        return Buffer.concat(kept.map((frame) => frame.bytes));
      },
    };
  };
}

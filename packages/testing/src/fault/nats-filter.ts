import { type NatsFrame, NatsFrameReader } from "./nats-frames.js";
import type { ByteFilter } from "./proxy-stream.js";

/**
 * A filter for `startProxy` that understands NATS: operations for which `drop` answers true are taken out whole, so
 * that the connection stays usable. Works for either direction; not under TLS.
 */
export function natsFilter(drop: (frame: NatsFrame) => boolean): () => ByteFilter {
  return natsCopies((frame) => (drop(frame) ? 0 : 1));
}

/**
 * A filter like `natsFilter` that sends each operation on so many times: 0 takes it out, 2 is a duplicate as a network or
 * a client that tries again makes it.
 */
export function natsCopies(copies: (frame: NatsFrame) => number): () => ByteFilter {
  return () => {
    const reader = new NatsFrameReader();
    return {
      push(chunk) {
        const kept = reader.push(chunk).flatMap((frame) => Array.from({ length: copies(frame) }, () => frame.bytes));
        return Buffer.concat(kept);
      },
    };
  };
}

/** Makes a condition that holds for messages on subjects of a pattern; `*` is one token, a last `>` the rest. */
export function onSubject(pattern: string): (frame: NatsFrame) => boolean {
  const wanted = pattern.split(".");
  return ({ subject }) => subject !== null && matches(wanted, subject.split("."));
}

function matches(wanted: readonly string[], tokens: readonly string[]): boolean {
  const rest = wanted.at(-1) === ">";
  const fixed = rest ? wanted.slice(0, -1) : wanted;
  if (rest ? tokens.length < wanted.length : tokens.length !== wanted.length) return false;
  return fixed.every((token, index) => token === "*" || token === tokens[index]);
}

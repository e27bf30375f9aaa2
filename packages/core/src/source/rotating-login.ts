import { readFileSync } from "node:fs";
import type { Authenticator } from "@nats-io/transport-node";

/**
 * Logs in with what a credentials file holds at each connect, so that a rotation needs no restart. While the file cannot be
 * read or used, as between the two steps of a rotation, what last worked counts.
 */
export function rotatingLogin(file: string, first: Uint8Array, login: (bytes: Uint8Array) => Authenticator): Authenticator {
  let usable = first;
  return (nonce) => {
    const fresh = freshLogin(file, login, nonce);
    if (fresh === null) return login(usable)(nonce);
    usable = fresh.bytes;
    return fresh.answer;
  };
}

function freshLogin(file: string, login: (bytes: Uint8Array) => Authenticator, nonce: string | undefined) {
  try {
    // The client asks for an answer at once; the file is small and read once a connect.
    const bytes = readFileSync(file);
    return { bytes, answer: login(bytes)(nonce) };
  } catch {
    return null;
  }
}

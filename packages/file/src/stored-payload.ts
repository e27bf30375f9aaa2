import { createHash } from "node:crypto";
import { indentJson } from "./indent-json.js";
import { memberText, spaceJson } from "./json-scan.js";

/** What the payload of a stored record is, beside the digest and the size that stand with it. */
export type PayloadState = "whole" | "damaged" | "unknown";

/** The members of a record that say what its payload was. */
interface PayloadInfo {
  readonly original_format?: unknown;
  readonly wrapped?: unknown;
  readonly sha256?: unknown;
  readonly size_bytes?: unknown;
}

/**
 * Compares the payload of a record with its digest. A wrapped body stands there byte by byte. A JSON body stands in the
 * producer's spelling, but line breaks became spaces, and `pretty` moves all white space: then the usual ways to print JSON are
 * tried, and a body that was printed in none of them is `unknown`, unless its size already tells that it is damaged.
 */
export function payloadState(text: string): PayloadState {
  const { payload, payload_info: info } = JSON.parse(text) as { readonly payload?: unknown; readonly payload_info?: PayloadInfo | null };
  if (typeof info !== "object" || info === null) return "damaged";
  const { original_format: format, wrapped, sha256, size_bytes: size } = info;
  if (format === "omitted") return payload === null && sha256 === null ? "whole" : "damaged";
  if (typeof sha256 !== "string" || typeof size !== "number") return "damaged";
  if (wrapped === true) return isBody(unwrapped(payload), sha256, size) ? "whole" : "damaged";
  const stored = memberText(text, "payload");
  return stored === null ? "damaged" : jsonState(stored, sha256, size, isOneLine(text));
}

function jsonState(stored: string, sha256: string, size: number, spaceWasKept: boolean): PayloadState {
  if (isBody(stored, sha256, size)) return "whole";
  if (spaceWasKept && Buffer.byteLength(stored) !== size) return "damaged";
  const compact = spaceJson(stored, "", "");
  // Without white space in the original there is one spelling only.
  if (Buffer.byteLength(compact) >= size) return isBody(compact, sha256, size) ? "whole" : "damaged";
  for (const spelling of spellings(compact)) if (isBody(spelling, sha256, size)) return "whole";
  return "unknown";
}

/** How programs print JSON: with `, ` and `: ` or one member a line, with or without a last line break. */
function* spellings(compact: string): Generator<string> {
  const spaced = spaceJson(compact, " ", " ");
  for (const body of [compact, spaced, indentJson(compact), indentJson(compact, "    "), indentJson(compact, "\t")]) {
    yield body;
    yield `${body}\n`;
    yield body.replaceAll("\n", "\r\n");
    yield `${body}\n`.replaceAll("\n", "\r\n");
  }
}

function isBody(body: string | Buffer | null, sha256: string, size: number): boolean {
  if (body === null || Buffer.byteLength(body) !== size) return false;
  return createHash("sha256").update(body).digest("hex") === sha256;
}

/** The bytes inside a wrapper (FW-PAY-02); null when it is none. */
function unwrapped(payload: unknown): Buffer | null {
  if (typeof payload !== "object" || payload === null) return null;
  const { _nats_sinks: wrapper, payload: body } = payload as {
    readonly _nats_sinks?: { readonly payload_encoding?: unknown };
    readonly payload?: unknown;
  };
  if (typeof body !== "string") return null;
  return Buffer.from(body, wrapper?.payload_encoding === "base64" ? "base64" : "utf8");
}

function isOneLine(text: string): boolean {
  return !text.trimEnd().includes("\n");
}

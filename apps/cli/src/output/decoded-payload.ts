import { escapeControls } from "./escape.js";

/** A payload in a form that can be printed: its text when it is UTF-8, otherwise base64. */
export interface DecodedPayload {
  readonly encoding: "utf-8" | "base64";
  readonly text: string;
  readonly sizeBytes: number;
}

/** Decodes a payload; bytes that are not UTF-8 become base64, none is replaced. */
export function decodePayload(bytes: Uint8Array): DecodedPayload {
  try {
    return { encoding: "utf-8", text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), sizeBytes: bytes.length };
  } catch {
    return { encoding: "base64", text: Buffer.from(bytes).toString("base64"), sizeBytes: bytes.length };
  }
}

/** The payload for people: its lines as they are, but no control that a terminal would act on. */
export function payloadText({ encoding, text, sizeBytes }: DecodedPayload): string {
  const lines = text.split("\n").map((line) => line.split("\t").map(escapeControls).join("\t"));
  return `payload (${sizeBytes} bytes${encoding === "utf-8" ? "" : ", not text, as base64"})\n${lines.join("\n")}\n`;
}

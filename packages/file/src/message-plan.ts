import type { Envelope } from "@sinks/core";
import { gzipMember } from "./compress.js";
import { type FileName, fileName, subjectFolder } from "./file-name.js";
import { indentJson } from "./indent-json.js";
import type { FileOptions } from "./options.js";

/** Where one message goes. */
export interface MessagePlace {
  readonly message: Envelope;
  /** Name of the subject's folder, null for the root. */
  readonly folder: string | null;
  readonly name: FileName;
  /** Digest of the payload, null when the body was withheld. */
  readonly sha256: string | null;
}

/** Finds the place of a message; throws where it has none, because its mode refuses the body or it has no key. */
export function placeOf(message: Envelope, options: FileOptions): MessagePlace {
  const { sha256 } = message.payloadForJsonStorage(options.payload_mode);
  const folder = options.partition_by_subject ? subjectFolder(message.subject) : null;
  return { message, folder, name: fileName(message, options.filename_strategy, sha256), sha256 };
}

/** The bytes of the file that holds a record. */
export async function fileBytes(text: string, options: FileOptions): Promise<Buffer> {
  const bytes = Buffer.from(`${options.pretty ? indentJson(text) : text}\n`, "utf8");
  return options.compression === "gzip" ? gzipMember(bytes, options.compression_level) : bytes;
}

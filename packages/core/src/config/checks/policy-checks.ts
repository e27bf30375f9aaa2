import type { Secret } from "../../option/secret.js";
import { type ConfigurationFault, fault } from "../faults.js";
import { crossCheck } from "./cross-check.js";

function keyFault(path: string, key: Secret | null, minimum: number, maximum: number): ConfigurationFault | false {
  if (key === null) return false;
  const text = key.reveal();
  const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  const size = base64 ? Buffer.from(text, "base64").length : -1;
  if (size >= minimum && size <= maximum) return false;
  return fault(path, `must be ${minimum === maximum ? minimum : `${minimum} to ${maximum}`} bytes in padded base64`);
}

const encryption = crossCheck(["encryption"], ({ encryption }) => [
  keyFault("encryption.key_b64", encryption.key_b64, 32, 32),
  ...encryption.rules.map((rule, index) => keyFault(`encryption.rules[${index}].key_b64`, rule.key_b64, 32, 32)),
]);

const authenticity = crossCheck(["message_authenticity"], ({ message_authenticity: section }) => {
  const headers = [section.signature_header, section.algorithm_header, section.key_id_header].map((name) => name.toLowerCase());
  return [
    new Set(headers).size < headers.length &&
      fault("message_authenticity", "must have three distinct headers", "give each header a name of its own"),
    ...section.rules.map((rule, index) =>
      keyFault(`message_authenticity.rules[${index}].key_b64`, rule.key_b64, 32, rule.algorithm === "ed25519" ? 32 : 1024),
    ),
  ];
});

const custody = crossCheck(["custody"], ({ custody }) => [
  !custody.hash_payload &&
    !custody.hash_metadata &&
    fault("custody.hash_metadata", "one of hash_payload and hash_metadata must be true", "set one of them to true"),
]);

const sizes = crossCheck(["size_policy"], ({ size_policy: size }) => {
  const aggregates = [
    ["max_headers_bytes", size.max_headers_bytes, "max_header_value_bytes", size.max_header_value_bytes],
    ["max_headers_bytes", size.max_headers_bytes, "max_header_name_bytes", size.max_header_name_bytes],
    ["max_labels_bytes", size.max_labels_bytes, "max_label_bytes", size.max_label_bytes],
    ["max_normalized_record_bytes", size.max_normalized_record_bytes, "max_payload_bytes", size.max_payload_bytes],
  ] as const;
  return aggregates.map(
    ([whole, limit, part, least]) =>
      limit < least && fault(`size_policy.${whole}`, `must not be below size_policy.${part}`, "raise it or lower the other"),
  );
});

/** Rules between the keys of encryption, authenticity, custody and size limits (FW-CFG-14..16, FW-POL-01). */
export const policyChecks = [encryption, authenticity, custody, sizes];

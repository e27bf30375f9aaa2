type Path = readonly [string, ...string[]];

function sameKeys(section: string, prefix: string, keys: readonly string[]): readonly (readonly [string, Path])[] {
  return keys.map((key) => [`${prefix}_${key.toUpperCase()}`, [section, key]]);
}

/** Variables `NATS_SINKS_<NAME>` and the key each of them overrides (FW-CFG-05). */
export const namedOverrides: ReadonlyMap<string, Path> = new Map<string, Path>(
  (
    [
      ...sameKeys("nats", "NATS", ["url", "stream", "consumer", "subject", "no_echo"]),
      ["CONSUMER_MANAGEMENT_MODE", ["consumer_management", "mode"]],
      ["LOG_LEVEL", ["logging", "level"]],
      ...sameKeys("encryption", "ENCRYPTION", ["enabled", "algorithm", "key_id", "key_b64_env"]),
      ...sameKeys("message_authenticity", "MESSAGE_AUTHENTICITY", ["enabled", "signature_header", "algorithm_header", "key_id_header"]),
      ["PRIORITY_HEADER", ["message_metadata", "priority", "header"]],
      ["PRIORITY_DEFAULT", ["message_metadata", "priority", "default"]],
      ["CLASSIFICATION_HEADER", ["message_metadata", "classification", "header"]],
      ["CLASSIFICATION_DEFAULT", ["message_metadata", "classification", "default"]],
      ["LABELS_HEADER", ["message_metadata", "labels", "header"]],
      ["LABELS_DEFAULT", ["message_metadata", "labels", "default"]],
      ...sameKeys("mission_metadata", "MISSION_METADATA", ["enabled", "header"]),
      ...sameKeys("security_labels", "SECURITY_LABELS", ["enabled", "header"]),
      ...sameKeys("custody", "CUSTODY", ["enabled", "algorithm", "key_id"]),
      ["ADVISORIES_ENABLED", ["advisories", "enabled"]],
      ["SINK_TYPE", ["sink", "type"]],
    ] as readonly (readonly [string, Path])[]
  ).map(([name, path]) => [`NATS_SINKS_${name}`, path]),
);

/** Prefix of the named overrides. */
export const namedPrefix = "NATS_SINKS_";

/** Prefix of `SINKS__<SECTION>__<KEY>`, the override of any other scalar. */
export const pathPrefix = "SINKS__";

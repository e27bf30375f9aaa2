import { expect, test } from "vitest";
import { fileOptions } from "../src/options.js";

test("FW-CFG-13 defaults are those of the contract", () => {
  expect(fileOptions.parse({ directory: "out" })).toEqual({
    directory: "out",
    mode: "one_file_per_message",
    filename_strategy: "stream_sequence",
    duplicate_policy: "skip_existing",
    payload_mode: "json_or_envelope",
    extension: ".json",
    compression: "none",
    compression_level: 6,
    include_metadata: true,
    partition_by_subject: true,
    create_directory: true,
    fsync: true,
    pretty: false,
    segment_max_bytes: 67_108_864,
    segment_max_age_seconds: 300,
  });
});

test("FW-CFG-13 a directory is required and unknown keys are refused", () => {
  expect(fileOptions.safeParse({}).success).toBe(false);
  expect(fileOptions.safeParse({ directory: "" }).success).toBe(false);
  expect(fileOptions.safeParse({ directory: "out", dir: "x" }).success).toBe(false);
});

test.each([".json", ".json.gz", ".event.gz", ".ndjson_v2"])("FW-CFG-13 extension %s is taken", (extension) => {
  expect(fileOptions.parse({ directory: "out", extension }).extension).toBe(extension);
});

test.each([
  "",
  "json",
  "/x",
  "./x",
  ".a/b",
  ".a\\b",
  "..",
  ".",
  ".a..b",
  ".tmp",
  ".json.tmp",
  ".TMP",
  ".lock",
  ".a\u0000",
  ".é",
  `.${"a".repeat(31)}`,
  ".a.b.c",
])("FW-FILE-06 extension %j is refused", (extension) => {
  expect(fileOptions.safeParse({ directory: "out", extension }).success).toBe(false);
});

test.each([
  ["compression_level", 0],
  ["compression_level", 10],
  ["segment_max_bytes", 1023],
  ["segment_max_age_seconds", 0],
  ["mode", "append"],
  ["filename_strategy", "subject"],
  ["duplicate_policy", "rename"],
  ["fsync", "true"],
])("FW-CFG-13 %s %j is refused without coercion", (key, value) => {
  expect(fileOptions.safeParse({ directory: "out", [key]: value }).success).toBe(false);
});

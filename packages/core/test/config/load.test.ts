import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultLine } from "../../src/config/faults.js";
import { loadConfiguration } from "../../src/config/load.js";
import { configurationWith, faultsOf } from "./faults-of.js";

const least = JSON.stringify(configurationWith());
const none = { environment: {} };

const load = (text: string, format: "json" | "yaml" = "yaml") => loadConfiguration({ text, format, name: "test", ...none });
const lines = async (text: string, format: "json" | "yaml" = "yaml") => (await faultsOf(() => load(text, format))).map(faultLine);

describe("FW-CFG-01 notations", () => {
  test("FW-CFG-01 JSON and YAML say the same", async () => {
    const yaml = "nats: { stream: EVENTS, consumer: sink, subject: events.> }\nsink:\n  type: file\n  directory: out\n";
    expect((await load(yaml)).configuration).toEqual((await load(least, "json")).configuration);
  });

  test.each([
    ["{", "test: line 1, column 2: expected a key in double quotes; correct the JSON"],
    ['{"a":1,}', "test: line 1, column 8: expected a key in double quotes; correct the JSON"],
    ['{"a":1,\n"a":2}', "test: line 2, column 1: a key stands twice in one object; correct the JSON"],
    ['{"a":1,"\\u0061":2}', "test: line 1, column 8: a key stands twice in one object; correct the JSON"],
    ['{"a":[1,{"b":1,"b":1}]}', "test: line 1, column 16: a key stands twice in one object; correct the JSON"],
    ['{"a":NaN}', "test: line 1, column 6: expected a JSON value; correct the JSON"],
    ['{"a":1e999}', "test: line 1, column 6: a number is too large; correct the JSON"],
    ['{"a":"x\ny"}', "test: line 1, column 6: a string is not closed, or holds a wrong escape or a control character; correct the JSON"],
    ['{"a":1} x', "test: line 1, column 9: text after the end of the document; correct the JSON"],
    ['{"a":[1 2]}', "test: line 1, column 9: expected `,` or `]`; correct the JSON"],
    ['{"a" 1}', "test: line 1, column 6: expected `:` after a key; correct the JSON"],
    ["{'a':1}", "test: line 1, column 2: expected a key in double quotes; correct the JSON"],
    ["", "test: line 1, column 1: the document ends too early; correct the JSON"],
    ["[".repeat(200), "test: line 1, column 102: nested too deep; correct the JSON"],
  ])("FW-CFG-01 wrong JSON is refused with its place (%#)", async (text, line) => {
    expect(await lines(text, "json")).toEqual([line]);
  });

  test.each([
    ["nats: &a {}\nsink: *a", "line 1, column 10: aliases and anchors are not allowed"],
    ["a: &x 1", "line 1, column 7: aliases and anchors are not allowed"],
    ["nats: 1\nnats: 2", "line 2, column 1: a key stands twice in one mapping"],
    ['nats: 1\n"nats": 2', "line 2, column 1: a key stands twice in one mapping"],
    ["1: 1\n'1': 2", "line 2, column 1: a key stands twice in one mapping"],
    ["a: .nan", "line 1, column 4: a number is not finite"],
    ["a: -.inf", "line 1, column 4: a number is not finite"],
    ["a: 1e999", "line 1, column 4: a number is not finite"],
    ["a: !custom 1", "line 1, column 4: custom tags are not allowed"],
    ["a: !!binary aGk=", "line 1, column 4: custom tags are not allowed"],
    ["a: !!set {x}", "line 1, column 4: custom tags are not allowed"],
    ["a: !!js/function 'x'", "line 1, column 4: custom tags are not allowed"],
    ["? [a, b]\n: 1", "line 1, column 3: a key must be plain text"],
    ["a: 1\n---\nb: 2", "line 2, column 1: more than one document"],
    ["%YAML 1.1\n---\na: 1", "line 1, column 1: only YAML 1.2 is read"],
    ["a:\n\t- b", "line 2, column 1: a tab is used for indentation"],
    ['a: "open', "line 1, column 9: a quote, bracket or separator is missing"],
  ])("FW-CFG-01 YAML beyond plain 1.2 core is refused with its place (%#)", async (text, line) => {
    expect(await lines(text)).toEqual([`test: ${line}; correct the YAML`]);
  });

  test("FW-CFG-01 YAML words of 1.1 are text, and `<<` is no merge", async () => {
    expect(await lines("nats: { stream: E, consumer: c, subject: s, durable: yes }\nsink: { type: file }")).toEqual([
      "nats.durable: wrong type; expected true or false",
    ]);
    expect(await lines("<<: { name: a }\nnats: { stream: E, consumer: c, subject: s }\nsink: { type: file }")).toEqual([
      '["<<"]: unknown key; remove it',
    ]);
  });

  test("FW-CFG-01 nesting without end is refused, not a crash", async () => {
    expect((await lines("[".repeat(20_000))).join()).toContain("test: ");
    for (const depth of [250, 2000])
      expect((await lines(`a: ${"[".repeat(depth)}${"]".repeat(depth)}`)).join()).toContain("nested too deep");
    expect((await lines('{"a":'.repeat(200_000), "json")).join()).toContain("nested too deep");
  });

  test("FW-CFG-01 the root must be an object", async () => {
    expect(await lines("\n")).toEqual(["test: it is empty; `sinks init` prints a starter configuration"]);
    for (const text of ["[]", "text", "5", "null"])
      expect(await lines(text)).toEqual(["configuration: wrong type; expected an object with sections at the root"]);
  });

  test("FW-CFG-01 a key named __proto__ is an unknown key like any other", async () => {
    const evil = (section: string) => `{"nats":{"stream":"E","consumer":"c","subject":"s"},"sink":{"type":"file"},${section}}`;
    for (const text of [evil('"__proto__":{"name":"x"}'), evil('"delivery":{"__proto__":{"batch_size":5}}')]) {
      expect((await lines(text, "json")).join()).toContain("__proto__: unknown key");
      expect((await lines(text, "yaml")).join()).toContain("__proto__: unknown key");
    }
  });

  test("FW-CFG-02 an integer beyond 2^53 is refused, not rounded", async () => {
    const text =
      '{"nats":{"stream":"E","consumer":"c","subject":"s"},"sink":{"type":"file"},"delivery":{"batch_max_bytes":9007199254740993}}';
    for (const format of ["json", "yaml"] as const)
      expect(await lines(text, format)).toEqual(["delivery.batch_max_bytes: too large; expected a whole number of at least 1024"]);
  });

  test("FW-CFG-03 faults of a notation never quote the text", async () => {
    const secret = "hunter2";
    for (const text of [`{"nats":{"password":"${secret}" x}}`, `{"nats":{"password":${secret}}}`, `{"${secret}":1,"${secret}":2}`]) {
      expect((await lines(text, "json")).join()).not.toContain(secret);
    }
    for (const text of [
      `a: !${secret} x`,
      `password: "${secret}`,
      `a: *${secret}`,
      `a: &${secret} 1`,
      `x: {${secret}`,
      `? [${secret}]\n: 1`,
      `- ${secret}\nb: ${secret}`,
    ]) {
      const found = (await lines(text)).join();
      expect(found).not.toBe("");
      expect(found).not.toContain(secret);
    }
  });

  test("FW-CFG-01 the JSON reader agrees with JSON.parse on every value without duplicate keys", async () => {
    const { readJsonText } = await import("../../src/config/json-text.js");
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2, "\t"), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(readJsonText(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("FW-CFG-01 what JSON.parse refuses, the JSON reader refuses", async () => {
    const { readJsonText } = await import("../../src/config/json-text.js");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789.eE+-tfn \\u\n') }), (text) => {
        const accepts = (parse: (text: string) => unknown) => {
          try {
            parse(text);
            return true;
          } catch {
            return false;
          }
        };
        if (!accepts(JSON.parse)) expect(accepts(readJsonText)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("FW-CFG-01 files", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "sinks-configuration-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const file = (name: string, content: string | Uint8Array) => {
    const full = path.join(folder, name);
    writeFileSync(full, content);
    return full;
  };
  const linesOf = async (name: string) => (await faultsOf(() => loadConfiguration({ file: name, ...none }))).map(faultLine);

  test("FW-CFG-01 the notation follows the name, else the text", async () => {
    for (const name of ["a.json", "a.yaml", "a.yml", "a.conf"]) {
      const loaded = await loadConfiguration({ file: file(name, least), ...none });
      expect(loaded.source).toBe(path.join(folder, name));
    }
    expect(await linesOf(file("yaml.json", "nats: 1"))).toEqual([expect.stringContaining("correct the JSON")]);
    const yaml = file("plain", "nats: { stream: E, consumer: c, subject: s }\nsink: { type: file }\n");
    expect((await loadConfiguration({ file: yaml, ...none })).configuration.nats.stream).toBe("E");
  });

  test("FW-CLI-02 a file that is absent, a folder, a pipe or unreadable is one line that names it", async () => {
    expect(await linesOf(path.join(folder, "absent.yaml"))).toEqual([`${folder}/absent.yaml: no such file; check the path`]);
    mkdirSync(path.join(folder, "folder.yaml"));
    expect(await linesOf(path.join(folder, "folder.yaml"))).toEqual([
      `${folder}/folder.yaml: not a regular file; name a file that holds the configuration`,
    ]);
    execFileSync("mkfifo", [path.join(folder, "pipe.yaml")]);
    expect(await linesOf(path.join(folder, "pipe.yaml"))).toEqual([
      `${folder}/pipe.yaml: not a regular file; name a file that holds the configuration`,
    ]);
    expect(await linesOf("/dev/zero")).toEqual(["/dev/zero: not a regular file; name a file that holds the configuration"]);
    expect(await linesOf(path.join(file("a-file", "x"), "below.yaml"))).toEqual([
      `${folder}/a-file/below.yaml: no such file; check the path`,
    ]);
  });

  test("FW-CFG-01 a file above 1 MiB is refused, one of exactly 1 MiB is read", async () => {
    const filled = (size: number) => `${least}${" ".repeat(size - least.length)}`;
    expect(await linesOf(file("big.json", filled(1_048_577)))).toEqual([
      `${folder}/big.json: larger than 1 MiB; keep the configuration small`,
    ]);
    expect(await linesOf(file("full.json", filled(1_048_576)))).toEqual([]);
  });

  test("FW-CFG-01 text that is not UTF-8 is refused", async () => {
    expect(await linesOf(file("latin.yaml", Uint8Array.of(0x61, 0x3a, 0x20, 0xe9)))).toEqual([
      `${folder}/latin.yaml: not valid UTF-8; save the file as UTF-8`,
    ]);
  });
});

test("FW-CFG-06 keys without effect load with a notice, only when they are given", async () => {
  expect((await load(least, "json")).notices).toEqual([]);
  const text = JSON.stringify(
    configurationWith({
      nats: { pending_size_bytes: 1024, drain_timeout_seconds: 1 },
      delivery: {
        prefer_safe_duplication: true,
        in_progress: { shutdown_timeout_ms: 1 },
        ack_confirmation: { unsupported_action: "ack" },
      },
      push_consumer: { drain_timeout_ms: 30_000 },
    }),
  );
  expect((await load(text, "json")).notices).toEqual([
    "delivery.prefer_safe_duplication: has no effect and can be removed",
    "push_consumer.drain_timeout_ms: has no effect; delivery.shutdown_timeout_ms bounds the stop",
    "nats.pending_size_bytes: has no effect; delivery.max_messages_in_flight bounds what is kept for sending",
    "nats.drain_timeout_seconds: has no effect; delivery.shutdown_timeout_ms and delivery.abort_grace_ms bound the stop",
    "delivery.in_progress.shutdown_timeout_ms: has no effect; heartbeats end with the lease they keep, and nothing waits for them",
    "delivery.ack_confirmation.unsupported_action: has no effect; every server that can be used confirms",
  ]);
});

test("FW-CFG-06 metrics that nobody can read are told", async () => {
  const noticesOf = async (metrics: object) => (await load(JSON.stringify(configurationWith({ metrics })), "json")).notices;
  expect(await noticesOf({ enabled: true })).toEqual([
    "metrics.enabled: nothing offers the metrics; set metrics.listen or metrics.snapshot_file",
  ]);
  for (const offered of [{ listen: "127.0.0.1:9090" }, { snapshot_file: "status.json" }])
    expect(await noticesOf({ enabled: true, ...offered })).toEqual([]);
});

test("FW-CFG-09 FW-DLQ-08 choices with a price are told", async () => {
  const notices = async (patch: Record<string, unknown>) =>
    (await load(JSON.stringify(configurationWith(patch)), "json")).notices.map((notice) => notice.split(":")[0]);
  expect(await notices({ dead_letter: { when_disabled: "discard" } })).toEqual(["dead_letter.when_disabled"]);
  expect(await notices({ dead_letter: { when_disabled: "discard", enabled: true, subject: "dlq" } })).toEqual([]);
  expect(await notices({ delivery: { ordering: "none" }, sink: { write: [{ op: "upsert" }] } })).toEqual(["delivery.ordering"]);
  expect(await notices({ delivery: { max_messages_in_flight: 10 } })).toEqual(["delivery.max_messages_in_flight"]);
});

test("FW-CFG-05..13 a configuration of the earlier project loads unchanged", async () => {
  const { earlierConfiguration } = await import("./earlier-configuration.js");
  const { configuration } = await load(JSON.stringify(earlierConfiguration), "json");
  expect(configuration.message_metadata.rules).toEqual([{ subject: "events.audit.>", priority: "high", labels: ["audit", "retain"] }]);
  expect(configuration.delivery).toMatchObject({
    batch_size: 100,
    max_in_flight_batches: 1,
    max_messages_in_flight: 200,
    in_progress: { enabled: false, max_heartbeats: 12 },
  });
});

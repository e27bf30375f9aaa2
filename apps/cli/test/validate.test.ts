import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { invokeIn } from "./support/invoke.js";
import { makeProject, type Project } from "./support/project.js";
import { probeSettings, settings } from "./support/settings.js";

let project: Project;
beforeAll(async () => {
  project = await makeProject();
});
afterAll(() => project[Symbol.asyncDispose]());

const secret = "hunter2-In-The-Clear";

describe("sinks validate", () => {
  test("FW-CLI-03 says that a configuration is valid", async () => {
    const file = await project.file("good.json", settings());
    expect(await invokeIn(project, ["validate", "good.json"])).toEqual({ exitCode: 0, stdout: `${file}: valid\n`, stderr: "" });
  });

  test("FW-CLI-01 takes the file by -c, SINKS_CONFIG and with --set", async () => {
    const file = await project.file("good.json", settings());
    const results = [
      await invokeIn(project, ["validate", "-c", file]),
      await invokeIn(project, ["validate"], { SINKS_CONFIG: "good.json" }),
      await invokeIn(project, ["validate", file, "--set", "delivery.batch_size=5", "--set", "sink.fsync=false"]),
      await invokeIn(project, ["validate", file, "--set", "delivery.batch_size=five"]),
      await invokeIn(project, ["validate", file, "--set", secret]),
    ];
    expect(results.map((result) => result.exitCode)).toEqual([0, 0, 0, 2, 2]);
    expect(results[3]?.stderr).toContain("delivery.batch_size");
    expect(results[4]?.stderr).not.toContain(secret);
  });

  test("FW-CFG-01, FW-CFG-03 an unknown key is named with its path and the nearest name, no value is shown", async () => {
    const nats = { url: "nats://127.0.0.1:1", stream: "EVENTS", consumer: "sink", subject: "events.>", user: "bob", password: secret };
    const file = await project.file("bad.json", settings({ nats, delivery: { bach_size: 10 } }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["validate", file]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toBe('sinks: delivery.bach_size: unknown key; did you mean "batch_size"?\n');
  });

  test("FW-CFG-03 every fault is a line of its own, those of the sink's keys too", async () => {
    const file = await project.file(
      "bad.json",
      settings({ delivery: { batch_size: 0 }, sink: { type: "file", directory: "out", fsyn: true } }),
    );
    const { exitCode, stderr } = await invokeIn(project, ["validate", file]);
    expect(exitCode).toBe(2);
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
    expect(stderr).toMatch(/^sinks: delivery\.batch_size: /m);
    expect(stderr).toMatch(/^sinks: sink\.fsyn: unknown key; did you mean "fsync"\?$/m);
  });

  test("FW-CLI-04 with --format json the verdict is one document, good or bad", async () => {
    await project.file("good.json", settings());
    await project.file("bad.json", settings({ delivery: { bach_size: 10 } }));
    const good = await invokeIn(project, ["validate", "good.json", "--format", "json"]);
    expect([good.exitCode, JSON.parse(good.stdout)]).toEqual([0, { valid: true, problems: [], warnings: [] }]);
    const bad = await invokeIn(project, ["validate", "bad.json", "--format", "json"]);
    expect([bad.exitCode, JSON.parse(bad.stdout)]).toEqual([
      2,
      {
        valid: false,
        problems: [
          { path: "delivery.bach_size", message: "unknown key", remedy: 'did you mean "batch_size"?', code: "configuration_invalid" },
        ],
        warnings: [],
      },
    ]);
    expect(bad.stderr).toBe("");
  });

  test("FW-CLI-02 a file that is not there is exit 2 and one line", async () => {
    const { exitCode, stderr } = await invokeIn(project, ["validate", "absent.yaml"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sinks: .*absent\.yaml: no such file[^\n]*\n$/);
  });

  test("FW-CFG-04 a secret whose variable is not set is a warning, since it is checked elsewhere as a rule", async () => {
    const nats = {
      url: "nats://127.0.0.1:1",
      stream: "EVENTS",
      consumer: "sink",
      subject: "events.>",
      user: "bob",
      password_env: "NOT_SET_HERE",
    };
    const file = await project.file("by-name.json", probeSettings({ password_env: "ALSO_NOT_SET" }, { nats }));
    const { exitCode, stderr } = await invokeIn(project, ["validate", file]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^sinks: warning: nats\.password_env: .*NOT_SET_HERE/m);
    expect(stderr).toMatch(/^sinks: warning: sink\.password_env: .*ALSO_NOT_SET/m);
    const set = await invokeIn(project, ["validate", file], { NOT_SET_HERE: secret, ALSO_NOT_SET: secret });
    expect(set).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("FW-CFG-05, FW-CFG-06 notices of the configuration are warnings on stderr", async () => {
    const file = await project.file("notices.json", settings({ delivery: { prefer_safe_duplication: true } }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["validate", file], { NATS_SINKS_NATS_STREEM: "x" });
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain("warning");
    expect(stderr).toMatch(/^sinks: warning: NATS_SINKS_NATS_STREEM: .*NATS_SINKS_NATS_STREAM/m);
    expect(stderr).toMatch(/^sinks: warning: delivery\.prefer_safe_duplication: /m);
  });

  test("FW-REG-06 a connector without a release is one line that names its package, and no command to install it", async () => {
    const file = await project.file("redis.json", settings({ sink: { type: "redis", url: "redis://x" } }));
    const { exitCode, stderr } = await invokeIn(project, ["validate", file]);
    expect([exitCode, stderr]).toEqual([
      2,
      "sinks: sink.type: the connector redis is planned and not part of this release; it will be @sinks/redis; `sinks connectors list` shows those that can be used\n",
    ]);
  });

  test("FW-REG-04 a connector of a third party is imported only when plugins allow it", async () => {
    const file = await project.file("probe.json", { ...settings(), sink: { type: "probe" } });
    const { exitCode, stderr } = await invokeIn(project, ["validate", file]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sinks: plugins\.enabled: .*sinks-probe/);
    expect((await invokeIn(project, ["validate", await project.file("allowed.json", probeSettings())])).exitCode).toBe(0);
  });
});

describe("bad input", () => {
  const nats = { url: "nats://127.0.0.1:1", stream: "EVENTS", consumer: "sink", subject: "events.>" };

  test.each<[string, string | object, RegExp]>([
    [
      "a batch over max_ack_pending",
      settings({ consumer_management: { max_ack_pending: 10 }, delivery: { batch_size: 100 } }),
      /^delivery\.batch_size: /,
    ],
    [
      "a dead-letter subject inside the own filter",
      settings({ dead_letter: { enabled: true, subject: "events.dead" } }),
      /^dead_letter\.subject: /,
    ],
    ["max_deliver 1", settings({ consumer_management: { max_deliver: 1 } }), /^consumer_management\.max_deliver: /],
    ["a login in the URL", settings({ nats: { ...nats, url: `nats://bob:${secret}@host` } }), /^nats\.url: /],
    ["a feature of a later release", settings({ custody: { enabled: true } }), /^custody\.enabled: /],
    ["payload logging", settings({ logging: { payload_logging: true } }), /^logging\.payload_logging: /],
    ["a YAML alias", "nats: &a { stream: EVENTS }\nsink: *a\n", /bad\.yaml: line \d+, column \d+: /],
    ["text that is no configuration", `{ "nats": "${secret}"`, /bad\.yaml: line \d+, column \d+: /],
    ["a huge file", `# ${"x".repeat(1_100_000)}\n`, /bad\.yaml: larger than 1 MiB/],
    ["an empty file", "", /bad\.yaml: it is empty; /],
  ])("FW-CFG-03, FW-CLI-02 %s: exit 2, one line with the key and the remedy, nothing started", async (_, content, expected) => {
    const file = await project.file("bad.yaml", content);
    for (const commandLine of [
      ["validate", file],
      ["run", file],
      ["run", file, "--dry-run"],
      ["test-sink", file],
    ]) {
      const { exitCode, stdout, stderr } = await invokeIn(project, commandLine);
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^sinks: [^\n]+\n$/);
      expect(stderr.slice("sinks: ".length)).toMatch(expected);
      expect(stderr).not.toContain(secret);
    }
  });

  test("FW-CLI-02 a folder, and a file in a folder that is none, are exit 2 and one line", async () => {
    for (const file of [project.folder, `${project.folder}/package.json/x`]) {
      const { exitCode, stderr } = await invokeIn(project, ["validate", file]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^sinks: [^\n]+\n$/);
    }
  });
});

describe("sinks config show", () => {
  test("FW-CLI-11, FW-CFG-04 shows every default, and secrets redacted in the sections and in the sink", async () => {
    const nats = { url: "nats://127.0.0.1:1", stream: "EVENTS", consumer: "sink", subject: "events.>", user: "bob", password: secret };
    const file = await project.file("secret.json", probeSettings({ password: secret }, { nats }));
    const text = await invokeIn(project, ["config", "show", file]);
    const json = await invokeIn(project, ["config", "show", file, "--format", "json"]);
    for (const { exitCode, stdout, stderr } of [text, json]) {
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect(stdout).not.toContain(secret);
    }
    expect(JSON.parse(json.stdout)).toMatchObject({
      nats: { user: "bob", password: "[redacted]", connect_timeout_seconds: 2 },
      delivery: { batch_size: 1000, ordering: "none", max_messages_in_flight: 5000, ack_mode: "batch_confirmed" },
      sink: { type: "probe", password: "[redacted]", start: "none" },
    });
    expect(text.stdout).toMatch(/^ {2}batch_size: 1000$/m);
  });

  test("FW-CFG-04 keeps the names of variables", async () => {
    const nats = {
      url: "nats://127.0.0.1:1",
      stream: "EVENTS",
      consumer: "sink",
      subject: "events.>",
      user: "bob",
      password_env: "KIT_PASSWORD",
    };
    const file = await project.file("by-name.json", settings({ nats }));
    const { stdout } = await invokeIn(project, ["config", "show", file, "--format", "json"], { KIT_PASSWORD: secret });
    expect(JSON.parse(stdout)).toMatchObject({ nats: { password_env: "KIT_PASSWORD" } });
    expect(stdout).not.toContain(secret);
  });

  test("FW-CLI-01, FW-CFG-05 shows overrides in effect, the command line over the environment over the file", async () => {
    const file = await project.file("good.json", settings());
    const { stdout } = await invokeIn(project, ["config", "show", file, "--format", "json", "--set", "nats.consumer=of-line"], {
      NATS_SINKS_NATS_CONSUMER: "of-environment",
      SINKS__DELIVERY__BATCH_SIZE: "7",
    });
    expect(JSON.parse(stdout)).toMatchObject({ nats: { consumer: "of-line" }, delivery: { batch_size: 7 } });
  });

  test("FW-CLI-11 the text is YAML that is valid again and shows the same", async () => {
    await project.file("good.json", settings());
    const first = await invokeIn(project, ["config", "show", "good.json"]);
    await project.file("again.yaml", first.stdout);
    expect((await invokeIn(project, ["config", "show", "again.yaml"])).stdout).toBe(first.stdout);
  });
});

describe("sinks run --dry-run", () => {
  test("FW-CLI-03 prints the plan and starts nothing", async () => {
    const file = await project.file("good.json", settings());
    const text = await invokeIn(project, ["run", file, "--dry-run"]);
    expect(text).toMatchObject({ exitCode: 0, stderr: "" });
    expect(text.stdout).toContain("Nothing was started.");
    const json = await invokeIn(project, ["run", "-c", file, "--dry-run", "--once", "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      source: { servers: ["nats://127.0.0.1:1"], stream: "EVENTS", consumer: "sink", subjects: ["events.>"], mode: "create_if_missing" },
      sink: { name: "file", type: "file" },
      delivery: { batch_size: 1000, ordering: "none" },
      dead_letter: { enabled: false, subject: null, when_disabled: "hold" },
      once: true,
    });
  });

  test("FW-CFG-04 refuses what a start would refuse: secrets that are not there", async () => {
    const file = await project.file("by-name.json", probeSettings({ password_env: "NOT_SET_HERE" }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["run", file, "--dry-run"]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^sinks: sink\.password_env: .*NOT_SET_HERE/);
  });
});

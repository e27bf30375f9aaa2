import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { invokeIn } from "./support/invoke.js";
import { makeProject, type Project } from "./support/project.js";
import { probeSettings, settings } from "./support/settings.js";

let project: Project;
let config: string;
beforeAll(async () => {
  project = await makeProject();
  config = await project.file("probe.json", probeSettings());
});
afterAll(() => project[Symbol.asyncDispose]());

const probe = (...flags: string[]) => invokeIn(project, ["probe", config, ...flags]);
const json = async (...flags: string[]) => JSON.parse((await probe(...flags, "--format", "json")).stdout);

describe("sinks probe", () => {
  test("WO-OB-01, WO-OB-02 the document has destination, extras, rendered text, count of values, runs and retry safety", async () => {
    const { exitCode, stdout, stderr } = await probe("--subject", "events.a", "--data", "hidden-value", "--format", "json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      messages: [
        {
          subject: "events.a",
          stream_sequence: 1,
          delivered: true,
          problem: null,
          writes: [
            {
              destination: "place",
              extras: { op: "put", where: { id: "[redacted]" } },
              rendered: "PUT place $1",
              value_count: 1,
              values: null,
              run: 0,
              chunk: 0,
              problem: null,
            },
          ],
        },
      ],
      runs: [{ operation: "put", destination: "place", chunks: [1] }],
      retry_safety: { answer: "unsafe", reason: "put adds to what is there" },
      notes: ["nobody was asked"],
    });
    expect(stderr).toBe("sinks: note: nobody was asked\n");
    expect(stdout).not.toContain("hidden-value");
  });

  test("FW-CLI-02 a destination that never answers fails at delivery.start_timeout_ms", async () => {
    const file = await project.file("hang.json", probeSettings({}, { delivery: { start_timeout_ms: 50 } }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["probe", file, "--subject", "events.hang"]);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("did not answer in time");
  });

  test("WO-OB-02 values are shown only when they are asked for", async () => {
    const { messages } = await json("--subject", "events.a", "--data", "hidden-value", "--show-values");
    expect(messages[0].writes[0]).toMatchObject({ values: ["hidden-value"], extras: { where: { id: "hidden-value" } } });
  });

  test("FW-CLI-04 the text says the same for people", async () => {
    const { exitCode, stdout } = await probe("--subject", "events.a", "--data", "x");
    expect([exitCode, stdout]).toEqual([
      0,
      [
        "events.a, sequence 1",
        "  put place",
        '    where   {"id":"[redacted]"}',
        "    sends   PUT place $1",
        "    values  1, not shown (--show-values)",
        "run 1: put place, 1 write sent at once",
        "repeated after an unknown outcome: unsafe, put adds to what is there",
        "",
      ].join("\n"),
    ]);
  });

  test.each([
    ["bad", { problem: null, writes: [{ problem: { code: "permanent", message: "probe: refused" }, run: null }] }],
    ["reject", { problem: { code: "permanent", message: "probe: refused" } }],
  ])("FW-CLI-02 a message that would be rejected (%s) ends with 3", async (end, message) => {
    const { exitCode, stdout } = await probe("--subject", `events.${end}`, "--format", "json");
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout).messages).toMatchObject([message]);
    expect((await probe("--subject", `events.${end}`)).stdout).toContain("rejected, permanent: probe: refused");
  });

  test("FW-MAP-01 a message with nothing to write is no fault", async () => {
    const { exitCode, stdout } = await probe("--subject", "events.none");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("nothing to write");
  });

  test("WO-OB-01 a subject that the consumer does not deliver is told", async () => {
    const { exitCode, stderr } = await probe("--subject", "other.a");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("a message is outside the consumer's filters and would not be delivered");
  });

  test("FW-POL-01 the gates judge a message before the sink does", async () => {
    const limited = await project.file("limited.json", probeSettings({}, { size_policy: { enabled: true, max_payload_bytes: 3 } }));
    const { exitCode, stdout } = await invokeIn(project, ["probe", limited, "--subject", "events.a", "--data", "four", "--format", "json"]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout).messages).toMatchObject([{ problem: { code: "payload_too_large" }, writes: [] }]);
  });

  test("WO-OB-01 the body may come from a file, headers from flags", async () => {
    const body = await project.file("body.json", "from a file");
    const { messages } = await json("--subject", "events.a", "--file", body, "--header", "Nats-Msg-Id=p=7", "--show-values");
    expect(messages[0].writes[0].values).toEqual(["from a file"]);
  });

  test.each([
    [[], "no message; give sequences of the stream"],
    [["12", "--subject", "events.a"], "give sequences of the stream, or a message by --subject, not both"],
    [["--data", "x"], "--header, --data and --file need --subject"],
    [["--subject", "events.a", "--data", "x", "--file", "y"], "give the body by --data or by --file, not both"],
    [["--subject", "events.a", "--file", "absent"], "--file: the file cannot be read (ENOENT)"],
    [["--subject", "events.a", "--header", "x"], "--header takes NAME=VALUE"],
    [["--subject", "events a"], "no message can be like this: subject must not hold white space"],
    [["0x1"], "the sequence must be an integer from 1"],
  ])("FW-CLI-02 %j is a usage error", async (flags, line) => {
    const { exitCode, stdout, stderr } = await probe(...flags);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(line);
  });

  test("WO-OB-02 a secret that is not here is a warning: a plan that needs no destination is made all the same", async () => {
    const file = await project.file("secret.json", probeSettings({ password_env: "NOT_SET" }));
    const { exitCode, stderr } = await invokeIn(project, ["probe", file, "--subject", "events.a"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("sinks: warning: sink.password_env: the environment variable NOT_SET is not set");
  });

  test("FW-REG-07 a connector without the ability says so", async () => {
    const file = await project.file("file.json", settings());
    const { exitCode, stderr } = await invokeIn(project, ["probe", file, "--subject", "events.a"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('connector "file" cannot say what it would write');
  });
});

describe("sinks ddl", () => {
  test("FW-CLI-01 prints what the sink needs, without secrets and without a network", async () => {
    const secret = await project.file("secret.json", probeSettings({ password_env: "NOT_SET" }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["ddl", secret]);
    expect([exitCode, stdout, stderr]).toEqual([0, "CREATE PLACE one;\n\nCREATE PLACE two;\n", ""]);
    const { stdout: document } = await invokeIn(project, ["ddl", secret, "--format", "json"]);
    expect(JSON.parse(document)).toEqual({ type: "probe", statements: ["CREATE PLACE one;", "CREATE PLACE two;"] });
  });

  test("FW-CLI-04 nothing to make is an empty result and a note", async () => {
    const empty = await project.file("empty.json", probeSettings({ health: "unavailable" }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["ddl", empty]);
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("nothing of its own that had to be made");
  });

  test("FW-REG-07 a connector without a schema says so", async () => {
    const file = await project.file("file.json", settings());
    const { exitCode, stderr } = await invokeIn(project, ["ddl", file]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('connector "file" needs no schema');
  });
});

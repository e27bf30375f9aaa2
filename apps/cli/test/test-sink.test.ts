import { stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { invokeIn } from "./support/invoke.js";
import { makeProject, type Project } from "./support/project.js";
import { probeSettings, settings } from "./support/settings.js";

let project: Project;
beforeAll(async () => {
  project = await makeProject();
});
afterAll(() => project[Symbol.asyncDispose]());

async function probe(options: object, sections: Readonly<Record<string, object>> = {}) {
  const file = await project.file("probe.json", probeSettings(options, sections));
  return invokeIn(project, ["test-sink", file, "--format", "json"]);
}

describe("sinks test-sink", () => {
  test("FW-CLI-05 starts the sink, asks for its health, stops it", async () => {
    const file = await project.file("file.json", settings({ sink: { type: "file", directory: path.join(project.folder, "target") } }));
    const { exitCode, stdout, stderr } = await invokeIn(project, ["test-sink", file, "--format", "json"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      sinks: [{ name: "file", type: "file", status: "pass", healthcheck: "pass", seconds: expect.any(Number), problem: null }],
    });
    expect((await stat(path.join(project.folder, "target"))).isDirectory()).toBe(true);
  });

  test.each([
    ["start", "unavailable", "destination_unavailable"],
    ["start", "credentials", "credentials_refused"],
    ["health", "unavailable", "destination_unavailable"],
  ])("FW-CLI-02, FW-CLI-05 %s fails as %s: exit 3 and the problem, no login shown", async (step, kind, code) => {
    const { exitCode, stdout, stderr } = await probe({ [step]: kind });
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ sinks: [{ type: "probe", status: "fail", healthcheck: "fail", problem: { code } }] });
    expect(stdout + stderr).not.toContain("hunter2");
  });

  test("FW-ERR-06 a stop that fails after a failed check does not hide what the check found", async () => {
    const { exitCode, stdout } = await probe({ health: "credentials", stop: "foreign" });
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ sinks: [{ status: "fail", problem: { code: "credentials_refused" } }] });
  });

  test("FW-CLI-05 a stop that fails by itself is the fault", async () => {
    const { exitCode, stdout } = await probe({ stop: "unavailable" });
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      sinks: [{ status: "fail", healthcheck: "pass", problem: { code: "destination_unavailable" } }],
    });
  });

  test("FW-ERR-07 an error of a driver is shown by its class only", async () => {
    const { exitCode, stdout } = await probe({ health: "foreign" });
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ sinks: [{ problem: { message: "unexpected Error", code: "unexpected" } }] });
  });

  test("FW-CLI-02 a configuration error that the sink finds at its start is a step that fails, exit 3", async () => {
    const { exitCode, stdout, stderr } = await probe({ start: "configuration" });
    expect([exitCode, stderr]).toEqual([3, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ sinks: [{ status: "fail", problem: { code: "configuration_invalid" } }] });
  });

  test("FW-CLI-05 a folder that is not there is told by its key and with the remedy", async () => {
    const sink = { type: "file", directory: path.join(project.folder, "absent"), create_directory: false };
    const file = await project.file("absent.json", settings({ sink }));
    const { exitCode, stdout } = await invokeIn(project, ["test-sink", file, "--format", "json"]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout).sinks[0].problem).toEqual({
      path: "sink.directory",
      message: "the folder is not there",
      remedy: "make it, or set create_directory",
      code: "configuration_invalid",
    });
  });

  test("FW-CLI-05 a destination that never answers fails at delivery.start_timeout_ms", async () => {
    const { exitCode, stdout } = await probe({ start: "hang" }, { delivery: { start_timeout_ms: 50 } });
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      sinks: [{ status: "fail", problem: { message: expect.stringContaining("did not answer in time") } }],
    });
  });

  test("FW-CLI-04 the text is a table, with the problem below", async () => {
    const file = await project.file("probe.json", probeSettings({ health: "unavailable" }));
    const { stdout } = await invokeIn(project, ["test-sink", file]);
    expect(stdout).toMatch(/^SINK +TYPE +STATUS +HEALTHCHECK +TIME\nprobe +probe +fail +fail +\d/);
    expect(stdout).toContain("probe: unavailable");
  });
});

import { expect, test } from "vitest";
import { invokeIn } from "./support/invoke.js";
import { makeProject } from "./support/project.js";
import { probeSettings } from "./support/settings.js";

test("FW-CLI-06 a destination that never answers is a check that fails at delivery.start_timeout_ms", async () => {
  await using project = await makeProject();
  const file = await project.file("hang.json", probeSettings({ health: "hang" }, { delivery: { start_timeout_ms: 50 } }));
  const { exitCode, stdout } = await invokeIn(project, ["doctor", file, "--format", "json"]);
  expect(exitCode).toBe(3);
  expect(JSON.parse(stdout).checks).toContainEqual({
    id: "sink",
    status: "fail",
    message: expect.stringContaining("did not answer in time"),
    remedy: expect.any(String),
  });
});

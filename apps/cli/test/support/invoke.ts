import { main } from "../../src/main.js";
import type { Project } from "./project.js";
import { recordingHost } from "./recording-host.js";

/** Runs a command line in this process, in the folder of a project. */
export async function invokeIn(
  project: Pick<Project, "folder">,
  commandLine: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const host = recordingHost({ workingDirectory: project.folder, environment });
  const exitCode = await main(commandLine, host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

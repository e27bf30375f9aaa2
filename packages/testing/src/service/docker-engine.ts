import { type Environment, runCommand } from "./run-command.js";

/** Version of the Docker engine that answers, or null. A `docker` command alone says nothing. */
export async function dockerEngineVersion(environment: Environment): Promise<string | null> {
  const answer = await runCommand("docker", ["version", "--format", "{{.Server.Version}}"], { timeoutMs: 3_000, environment });
  const version = answer.output.trim();
  return answer.succeeded && version !== "" ? version : null;
}

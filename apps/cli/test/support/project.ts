import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A folder with configuration files and, in its node_modules, a connector for tests. */
export interface Project extends AsyncDisposable {
  readonly folder: string;
  /** Writes a file of the project and gives its path. */
  file(name: string, content: string | object): Promise<string>;
}

const core = path.join(import.meta.dirname, "../../../../packages/core");
const zod = path.join(core, "node_modules/zod");

/**
 * The connector `probe`: its `start` and `healthcheck` fail with the error the options name, and its writes do what the file
 * `behaviour` in its folder says, read at each write: `store`, `permanent`, `contract`, `stuck` or `slow`. Its plan goes by the
 * end of the subject: `none`, `bad`, `reject`, `hang`.
 */
const probe = `
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { ConfigurationError, CredentialsError, DestinationUnavailableError, PermanentSinkError, defineConnector, secretOption } from "@sinks/core";
import { z } from "zod";

const kinds = { configuration: ConfigurationError, credentials: CredentialsError, unavailable: DestinationUnavailableError, foreign: Error };
const fail = (kind) => {
  if (kind === "hang") return new Promise(() => {});
  if (kind !== "none") throw new kinds[kind]("probe: " + kind + " at nats://bob:hunter2@host");
};

export const probe = defineConnector({
  name: "probe",
  apiVersion: "1",
  summary: "Does what a test asks of it.",
  options: z.strictObject({
    behaviour: z.string().nullable().default(null).describe("File that says what a write does."),
    start: z.string().default("none").describe("How start fails."),
    stop: z.string().default("none").describe("How stop fails."),
    health: z.string().default("none").describe("How the health check fails."),
    ...secretOption("password", "Secret of the destination."),
  }),
  create: (options) => ({
    async start() { await fail(options.start); },
    async healthcheck() { await fail(options.health); },
    async stop() { await fail(options.stop); },
    ddl() { return options.health === "none" ? ["CREATE PLACE one;", "CREATE PLACE two;"] : []; },
    async preflight() {
      await fail(options.health);
      return [];
    },
    async plan(messages, { showValues }) {
      if (messages.some(({ subject }) => subject.endsWith(".hang"))) await fail("hang");
      const refused = new PermanentSinkError("probe: refused");
      const writes = (message, index) => message.subject.endsWith(".none") ? [] : [{
        destination: "place",
        extras: { op: "put", where: { id: showValues ? message.text() : "[redacted]" } },
        rendered: "PUT place $1",
        valueCount: 1,
        values: showValues ? [message.text()] : null,
        place: message.subject.endsWith(".bad") ? null : { run: 0, chunk: index },
        error: message.subject.endsWith(".bad") ? refused : null,
      }];
      return {
        messages: messages.map((message, index) => ({ writes: writes(message, index), error: message.subject.endsWith(".reject") ? refused : null })),
        runs: [{ operation: "put", destination: "place", chunks: messages.map(() => 1) }],
        retrySafety: { answer: "unsafe", reason: "put adds to what is there" },
        notes: ["nobody was asked"],
      };
    },
    async writeBatch(messages, { signal }) {
      const behaviour = options.behaviour === null ? "store" : readFileSync(options.behaviour, "utf8").trim();
      if (behaviour === "permanent") return messages.map(() => new PermanentSinkError("probe: refused"));
      if (behaviour === "contract") return [];
      if (behaviour === "stuck") await new Promise(() => {});
      if (behaviour === "slow") await wait(1500, undefined, { signal });
      return messages.map(() => null);
    },
  }),
});
`;

/** Makes a project in a temporary folder; disposal removes it. */
export async function makeProject(): Promise<Project> {
  const folder = await mkdtemp(path.join(tmpdir(), "sinks-cli-"));
  const file = async (name: string, content: string | object): Promise<string> => {
    const target = path.join(folder, name);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return target;
  };
  await file("package.json", { name: "project", version: "1.0.0", type: "module", dependencies: { "sinks-probe": "1.0.0" } });
  await file("node_modules/sinks-probe/package.json", {
    name: "sinks-probe",
    version: "2.3.4",
    type: "module",
    exports: { ".": "./index.js", "./package.json": "./package.json" },
    sinks: { connectors: { probe: "./probe" } },
  });
  await file("node_modules/sinks-probe/index.js", probe);
  await mkdir(path.join(folder, "node_modules/@sinks"), { recursive: true });
  await symlink(core, path.join(folder, "node_modules/@sinks/core"));
  await symlink(zod, path.join(folder, "node_modules/zod"));
  return { folder, file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

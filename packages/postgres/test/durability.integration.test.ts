import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordingTelemetry } from "./fake-execution.js";
import { makeSink, rows, startSink, writeContext } from "./sink-fixture.js";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: true });
});
afterAll(() => server[Symbol.asyncDispose]());

test("WO-OPT-05 synchronous_commit = off is a warning of the checks and of the start, and no more than that", async () => {
  const url = await server.createDatabase();
  const found = async () => {
    const check = (await makeSink({ url }).preflight(writeContext().signal)).find(({ id }) => id === "durability");
    const { seen, telemetry } = recordingTelemetry();
    await using _ = await startSink({ url, auto_create: true }, {}, telemetry);
    return { status: check?.status, message: check?.message, logged: seen.events };
  };
  expect(await found()).toMatchObject({ status: "pass", logged: [] });
  await rows(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET synchronous_commit = off`);
  const reason = expect.stringContaining("synchronous_commit is off");
  expect(await found()).toMatchObject({
    status: "warn",
    message: reason,
    logged: [{ event: "commits may not be durable", fields: { reason } }],
  });
});

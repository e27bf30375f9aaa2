// A process to be killed: applies messages for ever, from the first one on, as after a redelivery of everything.
import { batchOf, executeReal, payloadWriter } from "./execution-fixture.js";
import { startClient } from "./postgres-fixture.js";

/** What stands on its command line. */
export type LedgerRunnerArguments = readonly [url: string, pipeline: string];

const [url, pipeline] = process.argv.slice(2) as unknown as LedgerRunnerArguments;
const client = await startClient({ url, connections: 1 });
const write = payloadWriter({ add: "UPDATE counters SET n = n + 1 WHERE id = :id::int" });
for (let from = 0; ; from += 100) {
  const messages = Array.from({ length: 100 }, (_, place) =>
    write(
      { op: "insert", table: "events", data: { n: from + place } },
      { op: "statement", statement: "add", params: { id: (from + place) % 100 } },
    ),
  );
  const batch = batchOf(messages).map((message) => ({ ...message, key: `message-${from + message.index}` }));
  const { words } = await executeReal(client, batch, { ledger: { pipeline, table: '"sinks_ledger"' } });
  if (words.some((word) => word !== "applied")) throw new Error(`not applied: ${words.join(" ")}`);
}

import { setTimeout as delay } from "node:timers/promises";
import type { WriteContext } from "@sinks/core";
import type { PostgresClient } from "../src/client.js";
import type { Sessions } from "../src/connection/session.js";
import { executeBatch } from "../src/execute/execute-batch.js";
import type { ExecutionSettings } from "../src/execute/execution-settings.js";
import type { MessageWrites } from "../src/execute/segment.js";
import type { BuildSettings, PayloadBuilder } from "../src/render/build.js";
import { createPayloadBuilder } from "../src/render/build.js";
import type { BuiltWrite } from "../src/render/built-write.js";
import { plainSettings, recordingTelemetry, wordOf } from "./fake-execution.js";
import { buildAll, buildSettings, statementsOf } from "./payload-fixture.js";
import { never, query, succeeded } from "./postgres-fixture.js";

/** Makes writes of payloads as one sink does: equal shapes are one form. */
export function payloadWriter(
  statements: Readonly<Record<string, unknown>> = {},
): (...payloads: readonly unknown[]) => readonly BuiltWrite[] {
  const settings: BuildSettings = buildSettings({ statements: statementsOf(statements) });
  const builder: PayloadBuilder = createPayloadBuilder(settings);
  return (...payloads) => buildAll(payloads, null, settings, builder);
}

/** A batch with the writes of its messages; its keys begin with `name`. */
export function batchOf(messages: readonly (readonly BuiltWrite[])[], name = "key"): MessageWrites[] {
  return messages.map((writes, index) => ({ index, writes, refused: null, key: `${name}-${index}` }));
}

/** Executes a batch on a real server. */
export async function executeReal(
  sessions: Sessions,
  messages: readonly MessageWrites[],
  settings: Partial<ExecutionSettings> = {},
  context: Partial<WriteContext> = {},
) {
  const { seen, telemetry } = recordingTelemetry();
  const wait = (milliseconds: number, signal: AbortSignal) => delay(milliseconds, undefined, { signal }).catch(() => undefined);
  const outcomes = await executeBatch(
    sessions,
    messages,
    { signal: never, ordered: false, lanes: null, onPoison: "dead_letter_and_continue", ...context },
    { ...plainSettings, ...settings },
    { telemetry, wait, random: Math.random, tablesChanged: async () => false },
  );
  return { outcomes, words: outcomes.map(wordOf), seen };
}

/** Runs statements one after another and gives the rows of the last one. */
export async function sql(client: PostgresClient, ...texts: string[]): Promise<readonly (readonly (string | null)[])[]> {
  const results = await client.use(never, async (session) => succeeded(await session.pipeline(texts.map((text) => query(text)))));
  return results.at(-1)?.rows ?? [];
}

/** Sessions that keep the texts of what goes through them, and the codes of what fails. */
export function watched(sessions: Sessions): Sessions & { readonly texts: string[]; readonly codes: (string | null)[] } {
  const texts: string[] = [];
  const codes: (string | null)[] = [];
  return {
    texts,
    codes,
    use: (signal, work) =>
      sessions.use(signal, (session) =>
        work({
          pipeline: async (queries) => {
            texts.push(...queries.map(({ text }) => text));
            const result = await session.pipeline(queries);
            if (result.failure !== null) codes.push(result.failure.code);
            return result;
          },
        }),
      ),
  };
}

import type { ConsumerConfig } from "@nats-io/jetstream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { formatRfc3339 } from "../../src/envelope/rfc3339.js";
import { expectedStart, firstSequenceSince } from "../../src/verify/expected-start.js";

const created = "2026-01-02T03:04:05Z";
const createdNs = 1_767_323_045_000_000_000n;

function startOf(config: object, management: object = {}) {
  const configuration = validateConfiguration({
    nats: { stream: "S", consumer: "c", subject: "s.>" },
    sink: { type: "file", directory: "out" },
    consumer_management: management,
  });
  return expectedStart({ config: config as ConsumerConfig, consumerCreatedAt: created, firstPossible: 3 }, configuration);
}

describe("expectedStart", () => {
  test("FW-CLI-07 follows the deliver policy of the consumer", () => {
    expect(startOf({ deliver_policy: "all" })).toEqual({ kind: "sequence", sequence: 3 });
    expect(startOf({ deliver_policy: "by_start_sequence", opt_start_seq: 9 })).toEqual({ kind: "sequence", sequence: 9 });
    expect(startOf({ deliver_policy: "by_start_time", opt_start_time: created })).toEqual({ kind: "time", timeNs: createdNs, note: null });
    expect(startOf({ deliver_policy: "new" })).toEqual({ kind: "time", timeNs: createdNs, note: null });
    expect(startOf({ deliver_policy: "last_per_subject" })).toMatchObject({ kind: "time", timeNs: createdNs, note: /last_per_subject/ });
  });

  test("FW-RUN-05 a consumer made again under way begins later than its pipeline: the configuration counts", () => {
    const again = { deliver_policy: "by_start_sequence", opt_start_seq: 800, metadata: { "_sinks.recreated": "799" } };
    expect(startOf(again)).toEqual({ kind: "sequence", sequence: 3 });
    expect(startOf(again, { deliver_policy: "by_start_sequence", start_sequence: 40 })).toEqual({ kind: "sequence", sequence: 40 });
    expect(startOf(again, { deliver_policy: "new" })).toEqual({ kind: "sequence", sequence: 800 });
  });
});

describe("firstSequenceSince", () => {
  test("FW-CLI-07 any stream with gaps: everything from it on is as new as the time, nothing before it is", async () => {
    const stream = fc.array(fc.record({ gap: fc.nat({ max: 5 }), wait: fc.nat({ max: 3 }) }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(stream, fc.nat({ max: 120 }), async (steps, time) => {
        let sequence = 0;
        let at = 0;
        const messages = steps.map(({ gap, wait }) => {
          sequence += gap + 1;
          at += wait;
          return { sequence, at };
        });
        const messageAt = async (from: number) => {
          const found = messages.find((message) => message.sequence >= from);
          return found === undefined ? null : { sequence: found.sequence, time: formatRfc3339(BigInt(found.at)) ?? "" };
        };
        const first = await firstSequenceSince(BigInt(time), messages[0]?.sequence ?? 1, sequence, messageAt);
        for (const message of messages) expect(message.sequence >= first).toBe(message.at >= time);
      }),
    );
  });
});

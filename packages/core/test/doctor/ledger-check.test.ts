import { expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { ledgerChecks } from "../../src/doctor/ledger-check.js";

type Arguments = Parameters<typeof ledgerChecks>;
const day = 86_400;
const denied = { kind: "denied" } as const;

function found(ledger: object | null, maximumAge: number | null, backoff: readonly number[] = []): readonly string[] {
  const configuration = validateConfiguration({
    nats: { url: "nats://127.0.0.1:4222", stream: "S", consumer: "c", subject: "s.>" },
    sink: { type: "recording", ...(ledger === null ? {} : { ledger }) },
  });
  const stream = maximumAge === null ? denied : { kind: "answer", value: { config: { max_age: maximumAge * 1e9 } } };
  const consumer = { kind: "answer", value: { config: { ack_wait: 30e9, backoff: backoff.map((seconds) => seconds * 1e9) } } };
  const checks = ledgerChecks(configuration, stream as Arguments[1], consumer as Arguments[2]);
  return checks.map(({ status, message, remedy }) => `${status}: ${message}: ${remedy}`);
}

test("FW-LED-06 the records of a ledger are kept as long as a message can come again", () => {
  expect(found(null, day)).toEqual([]);
  expect(found({ enabled: false }, day)).toEqual([]);
  expect(found({ enabled: true }, day)).toEqual([expect.stringMatching(/^pass: .*604800 s, messages come at most for 86400 s/)]);
  expect(found({ enabled: true, retention_seconds: 3600 }, day)).toEqual([expect.stringMatching(/^fail: .*at least 86400$/)]);
  expect(found({ enabled: true, retention_seconds: 7200 }, 3600, [5, 10_000])).toEqual([expect.stringMatching(/^fail: .*at least 10000$/)]);
  expect(found({ enabled: true }, 0)).toEqual([expect.stringMatching(/^warn: the stream has no max_age/)]);
  expect(found({ enabled: true }, null)).toEqual([expect.stringMatching(/^skipped: /)]);
});

import { expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import type { PlanAbility } from "../../src/connector/plan.js";
import type { Sink } from "../../src/connector/sink.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import { PermanentSinkError } from "../../src/error/errors.js";
import { makeMessage } from "../../src/probe/made-message.js";
import { probeSink } from "../../src/probe/probe.js";
import { configurationWith } from "../config/faults-of.js";

const configuration = validateConfiguration(configurationWith({ size_policy: { enabled: true, max_payload_bytes: 3 } }));
const message = (subject: string, body: string) =>
  makeMessage(configuration, { subject, data: Buffer.from(body), headers: { "Nats-Msg-Id": "m-1" }, nowNs: 1_767_225_600_000_000_001n });

/** A sink that refuses the subject `events.bad`, and keeps what it was asked. */
function planningSink(asked: (readonly Envelope[])[]): Sink & PlanAbility {
  return {
    start: () => Promise.reject(new Error("a probe starts nothing")),
    writeBatch: () => Promise.reject(new Error("a probe writes nothing")),
    stop: () => Promise.reject(new Error("what was not started is not stopped")),
    plan: async (messages) => {
      asked.push(messages);
      return {
        messages: messages.map(({ subject }) => ({ writes: [], error: subject === "events.bad" ? new PermanentSinkError(subject) : null })),
        runs: [],
        retrySafety: { answer: "safe", reason: "nothing is written" },
        notes: [],
      };
    },
  };
}

test("WO-OB-02 gates judge first, the sink plans the rest as one batch, and each answer finds its message", async () => {
  const asked: (readonly Envelope[])[] = [];
  const messages = [message("events.a", "1"), message("events.big", "1234"), message("events.bad", "2"), message("other.b", "3")];
  const signal = new AbortController().signal;
  const report = await probeSink({ configuration, sink: planningSink(asked), messages, showValues: false, signal });
  expect(asked.map((batch) => batch.map(({ subject }) => subject))).toEqual([["events.a", "events.bad", "other.b"]]);
  expect(report.messages.map(({ message: { subject }, delivered, error }) => [subject, delivered, error?.code ?? null])).toEqual([
    ["events.a", true, null],
    ["events.big", true, "payload_too_large"],
    ["events.bad", true, "permanent"],
    ["other.b", false, null],
  ]);
});

test("WO-OB-01 a made message is the first of its stream, delivered for the first time", () => {
  const { stream, consumer, streamSequence, deliveryCount, timestampNs, receivedAtNs, messageId } = message("events.a", "1");
  expect({ stream, consumer, streamSequence, deliveryCount, timestampNs, receivedAtNs, messageId }).toEqual({
    stream: "EVENTS",
    consumer: "sink",
    streamSequence: 1n,
    deliveryCount: 1,
    timestampNs: 1_767_225_600_000_000_001n,
    receivedAtNs: 1_767_225_600_000_000_001n,
    messageId: "m-1",
  });
});

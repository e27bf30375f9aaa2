import { type ConsumerConfig, JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import type { Configuration } from "../../src/config/schema.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { isErrorKind } from "../../src/error/errors.js";
import { ensureConsumer, readStream, serverFeatures } from "../../src/source/consumer.js";

type Sections = Readonly<Record<string, unknown>>;

function configuration(management: Sections = {}, others: Sections = {}): Configuration {
  return validateConfiguration({
    nats: { stream: "EVENTS", consumer: "sink", subject: "events.>" },
    sink: { type: "file", directory: "/data" },
    consumer_management: management,
    ...others,
  });
}

function apiError(code: number, status: number): JetStreamApiError {
  return new JetStreamApiError({ code: status, err_code: code, description: "of the server" });
}

/** A server with the stream and perhaps the consumer; it keeps what it is asked for, in order. */
function serverWith(existing: Partial<ConsumerConfig> | null, streamError: Error | null = null) {
  const asked: string[] = [];
  const described = (config: Partial<ConsumerConfig>) => ({ name: "sink", created: "2026-01-01T00:00:00Z", config });
  const manager = {
    streams: {
      info: async () => {
        if (streamError !== null) throw streamError;
        return { created: "2026-01-01T00:00:00Z", config: { subjects: ["events.>"] } };
      },
    },
    consumers: {
      info: async () => {
        asked.push("info");
        if (existing === null) throw apiError(10014, 404);
        return described(existing);
      },
      add: async (_stream: string, config: Partial<ConsumerConfig>) => {
        asked.push("add");
        return described(config);
      },
    },
  } as unknown as JetStreamManager;
  return { manager, asked };
}

async function faultOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!isErrorKind(error, "ConfigurationError")) throw new Error("no configuration error");
  return error;
}

const old = serverFeatures("2.9.25");

describe("what a server can do", () => {
  test.each([
    ["2.9.25", false, false],
    ["2.10.0", true, false],
    ["2.10.22-RC.1", true, false],
    ["2.11.4", true, true],
    ["2.15.1", true, true],
    ["3.0.0-beta", true, true],
  ])("FW-RUN-03 FW-RUN-12 %s: supported in full %s, priority groups %s", (version, current, priorityGroups) => {
    expect(serverFeatures(version)).toEqual({ version, current, priorityGroups });
  });
});

describe("a server of 2.9", () => {
  test("FW-RUN-03 is warned of, one of 2.10 is not", async () => {
    const before = await ensureConsumer(serverWith(null).manager, configuration(), old, null, 3000);
    expect(before.warnings).toEqual([expect.stringContaining("2.9.25")]);
    const after = await ensureConsumer(serverWith(null).manager, configuration(), serverFeatures("2.10.0"), null, 3000);
    expect(after.warnings).toEqual([]);
  });

  test.each([
    ["consumer_management.filter_subjects", { filter_subjects: ["events.a", "events.b"] }],
    ["consumer_management.metadata", { metadata: { team: "a" } }],
  ])("FW-RUN-03 lacks %s, which is refused by name before anything is asked", async (key, management) => {
    const { manager, asked } = serverWith(null);
    const fault = await faultOf(ensureConsumer(manager, configuration(management), old, null, 3000));
    expect([fault, asked]).toEqual([expect.objectContaining({ code: "not_supported", message: expect.stringContaining(key) }), []]);
  });

  test("FW-RUN-03 one filter is within its powers, and what is there is compared, never created over", async () => {
    const management = { filter_subjects: ["events.a"] };
    const made = serverWith(null);
    await ensureConsumer(made.manager, configuration(management), old, null, 3000);
    expect(made.asked).toEqual(["info", "add"]);
    const other = serverWith({ ack_policy: "explicit", deliver_policy: "all", replay_policy: "instant", filter_subject: "events.b" });
    const fault = await faultOf(ensureConsumer(other.manager, configuration(management), old, null, 3000));
    expect([fault, other.asked]).toEqual([expect.objectContaining({ code: "consumer_drift" }), ["info"]]);
  });
});

describe("a stream whose creation time may not be read", () => {
  const forbidden = new errors.PermissionViolationError("no", "publish", "$JS.API.STREAM.INFO.EVENTS");

  test("FW-ENV-07 fails start, naming the key that allows it", async () => {
    const fault = await faultOf(readStream(serverWith(null, forbidden).manager, configuration()));
    expect(fault.message).toContain("idempotency.allow_unknown_incarnation");
  });

  test("FW-ENV-07 is taken as unknown when the configuration allows that, with a warning", async () => {
    const allowed = configuration({}, { idempotency: { allow_unknown_incarnation: true } });
    const { manager } = serverWith(null, forbidden);
    const { stream, warnings } = await ensureConsumer(manager, allowed, serverFeatures("2.11.0"), null, 3000);
    expect([stream, warnings]).toEqual([null, [expect.stringContaining("creation time")]]);
  });

  test("FW-ENV-07 FW-RUN-32 allows nothing else: a missing stream is a fault, silence is no answer", async () => {
    const allowed = configuration({}, { idempotency: { allow_unknown_incarnation: true } });
    const fault = await faultOf(readStream(serverWith(null, apiError(10059, 404)).manager, allowed));
    expect(fault).toMatchObject({ code: "stream_missing" });
    const silence = new errors.TimeoutError();
    await expect(readStream(serverWith(null, silence).manager, allowed)).rejects.toBe(silence);
  });
});

describe("filters that nothing can match", () => {
  const bound = async (settings: Configuration) => ensureConsumer(serverWith(null).manager, settings, serverFeatures("2.11.0"), null, 3000);

  test("FW-RUN-02 are warned of by their key, and bound all the same", async () => {
    const settings = validateConfiguration({
      nats: { stream: "EVENTS", consumer: "sink", subject: "orders.>" },
      sink: { type: "file", directory: "/data" },
    });
    expect((await bound(settings)).warnings).toEqual([
      'nats.subject: no subject of stream "EVENTS" can match "orders.>"; correct one of the two',
    ]);
    expect((await bound(configuration())).warnings).toEqual([]);
  });
});

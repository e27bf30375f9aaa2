import { AckPolicy, type ConsumerConfig, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import type { Configuration } from "../../src/config/schema.js";
import { validateConfiguration } from "../../src/config/validate.js";
import {
  type ConsumerDifference,
  compareConsumer,
  mendConsumer,
  newConsumer,
  priorityGroup,
  recreatedKey,
  statedConsumer,
} from "../../src/source/consumer-settings.js";

type Sections = Readonly<Record<string, unknown>>;

function configuration(management: Sections = {}, delivery: Sections = {}, nats: Sections = {}): Configuration {
  return validateConfiguration({
    nats: { url: "nats://127.0.0.1:4222", stream: "EVENTS", consumer: "sink", subject: "events.>", ...nats },
    sink: { type: "file", directory: "/data" },
    consumer_management: management,
    delivery,
  });
}

function stated(management: Sections = {}, group: string | null = null): Partial<ConsumerConfig> {
  return statedConsumer(configuration(management), group, 3000);
}

/** A consumer as the server gives it back for what was stated, its own additions included. */
function onServer(of: Partial<ConsumerConfig>, changes: Partial<ConsumerConfig> = {}): ConsumerConfig {
  return {
    name: "sink",
    durable_name: "sink",
    ack_wait: 30e9,
    max_deliver: -1,
    max_ack_pending: 20_000,
    max_waiting: 512,
    num_replicas: 0,
    ...of,
    metadata: { ...of.metadata, "_nats.level": "1", "_nats.ver": "2.11.0" },
    ...changes,
  } as ConsumerConfig;
}

function fields(differences: readonly ConsumerDifference[]): string[] {
  return differences.map(({ field }) => field);
}

describe("the consumer as the configuration states it", () => {
  test("FW-RUN-04 acknowledges explicitly, and a key that is not set is left to the server", () => {
    expect(stated()).toEqual({
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      replay_policy: ReplayPolicy.Instant,
      filter_subject: "events.>",
    });
  });

  test("FW-RUN-03 every key that is set is stated, times in ns", () => {
    const full = stated({
      filter_subjects: ["events.a", "events.b"],
      deliver_policy: "by_start_sequence",
      start_sequence: 7,
      replay_policy: "original",
      ack_wait_seconds: 1.5,
      max_deliver: 9,
      max_ack_pending: 5000,
      max_waiting: 64,
      headers_only: false,
      num_replicas: 3,
      memory_storage: true,
      metadata: { team: "orders" },
    });
    expect(full).toEqual({
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: 7,
      replay_policy: ReplayPolicy.Original,
      filter_subjects: ["events.a", "events.b"],
      ack_wait: 1_500_000_000,
      max_deliver: 9,
      max_ack_pending: 5000,
      max_waiting: 64,
      headers_only: false,
      num_replicas: 3,
      mem_storage: true,
      metadata: { team: "orders" },
    });
  });

  test("FW-RUN-15 BackOff is stated in ns", () => {
    expect(stated({ backoff_seconds: [0.25, 2], max_deliver: 5 }).backoff).toEqual([250_000_000, 2_000_000_000]);
  });

  test("FW-RUN-12 an order takes a pinned priority group where the server has them", () => {
    expect(priorityGroup(configuration({}, { ordering: "strict" }), true)).toBe("sinks");
    expect(priorityGroup(configuration({}, { ordering: "strict" }), false)).toBeNull();
    expect(priorityGroup(configuration({}, { ordering: "none" }), true)).toBeNull();
    expect(stated({}, "sinks")).toMatchObject({ priority_groups: ["sinks"], priority_policy: "pinned_client", priority_timeout: 3e9 });
  });

  test("FW-RUN-03 its own filters come before the subject of the pipeline", () => {
    expect(stated({ filter_subjects: ["events.b", "events.a"] })).not.toHaveProperty("filter_subject");
    expect(stated({ filter_subjects: ["events.b"] }).filter_subject).toBe("events.b");
  });
});

describe("a new consumer", () => {
  test.each([
    [{ max_messages_in_flight: 2000 }, {}, 20_000],
    [{ max_messages_in_flight: 6000 }, {}, 24_000],
    [{ max_messages_in_flight: 2000 }, { max_ack_pending: 3000 }, 3000],
  ])("FW-RUN-04 with %j and %j has the ack window %#", (delivery, management, expected) => {
    const of = configuration(management, { ...delivery, batch_size: 1000, max_in_flight_batches: 1 });
    expect(newConsumer(of, statedConsumer(of, null, 3000)).max_ack_pending).toBe(expected);
  });

  test("FW-RUN-03 a durable one has its name, an ephemeral one the same fields and a long life", () => {
    const durable = configuration();
    expect(newConsumer(durable, statedConsumer(durable, null, 3000))).toMatchObject({
      durable_name: "sink",
      name: "sink",
      filter_subject: "events.>",
    });
    const ephemeral = configuration({}, {}, { durable: false });
    const made = newConsumer(ephemeral, statedConsumer(ephemeral, null, 3000));
    expect(made).toMatchObject({ name: "sink", filter_subject: "events.>", ack_policy: AckPolicy.Explicit });
    expect(made).not.toHaveProperty("durable_name");
    expect(made.inactive_threshold).toBeGreaterThanOrEqual(3600e9);
  });
});

describe("drift", () => {
  const managements: Sections[] = [
    {},
    { filter_subjects: ["events.a", "events.b"] },
    {
      ack_wait_seconds: 12,
      max_deliver: 9,
      max_ack_pending: 5000,
      max_waiting: 9,
      headers_only: true,
      memory_storage: true,
      num_replicas: 1,
    },
    { headers_only: false, memory_storage: false, num_replicas: 0 },
    { backoff_seconds: [1, 2], max_deliver: 5 },
    { deliver_policy: "by_start_sequence", start_sequence: 7 },
    { deliver_policy: "by_start_time", start_time: "2026-01-31T00:00:00Z" },
    { metadata: { team: "orders", tier: "1" } },
  ];

  test.each(managements.map((each) => [each]))(
    "FW-RUN-03 what was made from %j is no drift, whatever the server adds or leaves out",
    (management) => {
      for (const group of [null, "sinks"]) {
        const of = stated(management, group);
        const found = onServer(of);
        for (const field of ["headers_only", "mem_storage", "num_replicas"] as const) if (!found[field]) delete found[field];
        expect(compareConsumer(of, found)).toEqual([]);
        if (of.filter_subjects) expect(compareConsumer(of, { ...found, filter_subjects: [...of.filter_subjects].reverse() })).toEqual([]);
        if (of.metadata)
          expect(compareConsumer(of, { ...found, metadata: { tier: "1", "_nats.req.level": "0", team: "orders" } })).toEqual([]);
      }
    },
  );

  test.each([
    [{ ack_wait_seconds: 10 }, { ack_wait: 30e9 }, "ack_wait", true],
    [{ backoff_seconds: [1, 2], max_deliver: 5 }, { backoff: [1e9] }, "backoff", true],
    [{ backoff_seconds: [1, 2], max_deliver: 5 }, { backoff: undefined }, "backoff", true],
    [{ max_deliver: 9 }, { max_deliver: -1 }, "max_deliver", true],
    [{ max_ack_pending: 5000 }, { max_ack_pending: 1000 }, "max_ack_pending", true],
    [{ max_waiting: 5 }, { max_waiting: 512 }, "max_waiting", false],
    [{ headers_only: true }, { headers_only: undefined }, "headers_only", true],
    [{ num_replicas: 3 }, { num_replicas: 1 }, "num_replicas", true],
    [{ filter_subjects: ["events.a", "events.b"] }, { filter_subjects: ["events.a", "events.c"] }, "filter_subjects", true],
    [{}, { filter_subject: "events.a" }, "filter_subjects", true],
    [{}, { filter_subject: undefined }, "filter_subjects", true],
    [{ metadata: { team: "a" } }, { metadata: { team: "b" } }, "metadata", true],
    [{ metadata: { team: "a" } }, { metadata: { team: "a", more: "b" } }, "metadata", true],
    [{ metadata: { team: "a" } }, { metadata: undefined }, "metadata", true],
    [{}, { ack_policy: AckPolicy.None }, "ack_policy", false],
    [{}, { deliver_policy: DeliverPolicy.New }, "deliver_policy", false],
    [{}, { replay_policy: ReplayPolicy.Original }, "replay_policy", false],
    [{ memory_storage: true }, { mem_storage: undefined }, "mem_storage", false],
    [{ deliver_policy: "by_start_sequence", start_sequence: 7 }, { opt_start_seq: 8 }, "opt_start_seq", false],
    [
      { deliver_policy: "by_start_time", start_time: "2026-01-31T00:00:00Z" },
      { opt_start_time: "2026-01-31T00:00:01Z" },
      "opt_start_time",
      false,
    ],
  ] as [Sections, Partial<ConsumerConfig>, string, boolean][])(
    "FW-RUN-03 stated %j, found %j: drift of %s alone, mutable %s",
    (management, changes, field, mutable) => {
      const of = stated(management);
      const differences = compareConsumer(of, onServer(of, changes));
      expect(fields(differences)).toEqual([field]);
      expect(differences[0]?.mutable).toBe(mutable);
    },
  );

  test("FW-RUN-03 names field, expected and actual", () => {
    const of = stated({ max_deliver: 9 });
    expect(compareConsumer(of, onServer(of, { max_deliver: -1 }))).toEqual([
      { field: "max_deliver", expected: "9", actual: "-1", mutable: true },
    ]);
  });

  test("FW-RUN-03 values of metadata are not shown, keys are", () => {
    const of = stated({ metadata: { token: "stated-value" } });
    const text = JSON.stringify(compareConsumer(of, onServer(of, { metadata: { token: "other-value" } })));
    expect(text).toContain("token");
    expect(text).not.toMatch(/stated-value|other-value/);
  });

  test.each([
    ["2026-01-31T00:00:00.500Z", "2026-01-31T00:00:00.5Z"],
    ["2026-01-31T02:00:00+02:00", "2026-01-31T00:00:00Z"],
    ["2026-01-31T00:00:00.000Z", "2026-01-31T00:00:00Z"],
  ])("FW-RUN-03 the start time %s, which the server writes as %s, is no drift", (start_time, written) => {
    const of = stated({ deliver_policy: "by_start_time", start_time });
    expect(compareConsumer(of, onServer(of, { opt_start_time: written }))).toEqual([]);
  });

  test("FW-RUN-12 a consumer without the pinned group is no drift: it serves one client, and the runner watches for a second", () => {
    const of = stated({}, "sinks");
    expect(compareConsumer(of, onServer(of, { priority_groups: undefined, priority_policy: undefined } as never))).toEqual([]);
  });

  test("FW-RUN-12 a consumer with groups refuses pulls that name none, so it is drift for a pipeline without an order", () => {
    const of = stated();
    const found = onServer(of, { priority_groups: ["sinks"], priority_policy: "pinned_client" });
    expect(compareConsumer(of, found)).toEqual([{ field: "priority_groups", expected: "unset", actual: '["sinks"]', mutable: true }]);
    expect(compareConsumer(of, onServer(of, { priority_groups: [] }))).toEqual([]);
  });

  test("FW-RUN-12 the pin's time-out may differ: another pull expiry is no other consumer", () => {
    const of = stated({}, "sinks");
    expect(compareConsumer(of, onServer(of, { priority_timeout: 9e9 }))).toEqual([]);
  });

  test("FW-RUN-05 where a consumer that was made again under way begins was the runner's choice", () => {
    const of = stated({ deliver_policy: "new" });
    const again = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: 41, metadata: { [recreatedKey]: "40" } };
    expect(compareConsumer(of, onServer(of, again))).toEqual([]);
    expect(fields(compareConsumer(of, onServer(of, { ...again, metadata: {} })))).toEqual(["deliver_policy"]);
  });
});

describe("mending", () => {
  test.each([
    [{}, { filter_subject: undefined, filter_subjects: ["events.a", "events.b"] }],
    [{ filter_subjects: ["events.a", "events.b"] }, { filter_subjects: undefined, filter_subject: "events.>" }],
    [
      { max_deliver: 9, ack_wait_seconds: 5, headers_only: true },
      { max_deliver: -1, ack_wait: 30e9 },
    ],
    [{ metadata: { team: "a" } }, { metadata: { team: "b", gone: "x", "_nats.ver": "2.11.0", [recreatedKey]: "40" } }],
  ] as [Sections, Partial<ConsumerConfig>][])("FW-RUN-03 what mends %j over %j leaves no difference", (management, changes) => {
    const of = stated(management);
    const found = onServer(of, changes);
    expect(compareConsumer(of, found)).not.toEqual([]);
    const mended = mendConsumer(of, found);
    expect(compareConsumer(of, mended)).toEqual([]);
    expect(mended.name).toBe("sink");
  });

  test("FW-RUN-03 empties the other form of the filter, which the server would not take beside it", () => {
    const one = mendConsumer(stated(), onServer(stated(), { filter_subject: undefined, filter_subjects: ["events.a"] } as never));
    expect([one.filter_subject, one.filter_subjects]).toEqual(["events.>", []]);
    const several = stated({ filter_subjects: ["events.a", "events.b"] });
    const two = mendConsumer(several, onServer(several, { filter_subjects: undefined, filter_subject: "events.>" } as never));
    expect([two.filter_subject, two.filter_subjects]).toEqual(["", ["events.a", "events.b"]]);
  });

  test("FW-RUN-12 takes the groups away that a pipeline without an order cannot use, by leaving them out", () => {
    const found = onServer(stated(), { priority_groups: ["sinks"], priority_policy: "pinned_client", priority_timeout: 3e9 });
    const mended = mendConsumer(stated(), found);
    expect(compareConsumer(stated(), mended)).toEqual([]);
    expect(Object.entries(mended).filter(([field]) => field.startsWith("priority_"))).toEqual([
      ["priority_groups", undefined],
      ["priority_policy", undefined],
      ["priority_timeout", undefined],
    ]);
    expect(mendConsumer(stated({}, "sinks"), onServer(stated())).priority_groups).toEqual(["sinks"]);
  });

  test("FW-RUN-05 keeps the runner's own metadata, drops what the operator no longer states, and leaves the server's to it", () => {
    const of = stated({ metadata: { team: "a" } });
    const found = onServer(of, { metadata: { old: "x", "_nats.ver": "2.11.0", [recreatedKey]: "40" } });
    expect(mendConsumer(of, found).metadata).toEqual({ team: "a", [recreatedKey]: "40" });
  });

  test("FW-RUN-03 keeps what the configuration does not state", () => {
    expect(mendConsumer(stated(), onServer(stated(), { description: "made by hand", max_waiting: 7 }))).toMatchObject({
      description: "made by hand",
      max_waiting: 7,
    });
  });
});

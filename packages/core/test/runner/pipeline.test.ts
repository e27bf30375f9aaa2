import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PipelineRun, type Scenario, scenarioOf } from "../fakes/pipeline-run.js";
import type { Fate, PlannedWrite } from "../fakes/scripted-destination.js";

vi.mock("../../src/source/pause.js", () => ({
  pause: (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
}));

const runs: PipelineRun[] = [];

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  for (const run of runs.splice(0)) run.dispose();
  vi.useRealTimers();
});

function begin(overrides: Partial<Scenario>, ...subjects: string[]): PipelineRun {
  const run = new PipelineRun(scenarioOf(overrides));
  runs.push(run);
  for (const subject of subjects) run.stream.store(subject);
  run.pipeline.changed();
  return run;
}

function write(end: PlannedWrite["end"], ms = 1, fates: readonly Fate[] = ["stored"]): PlannedWrite {
  return { ms, deaf: false, end, fates };
}

/** A write that minds no abort. */
function stuck(ms: number): PlannedWrite {
  return { ms, deaf: true, end: "outcomes", fates: ["unknown, not applied"] };
}

function texts(sent: ReadonlySet<number>): number[] {
  return [...sent].sort((a, b) => a - b);
}

describe("the way of a message", () => {
  test("FW-RUN-09 FW-RUN-22 a backlog goes in full batches and is acked once it is stored", async () => {
    const run = begin({ batchSize: 3 }, "events.a", "events.b", "events.c", "events.d");
    await run.pass(100);
    expect(run.destination.batches).toEqual([[1, 2, 3], [4]]);
    expect(texts(run.stream.acked)).toEqual([1, 2, 3, 4]);
    expect([run.flight.size, run.broken]).toEqual([0, []]);
  });

  test("FW-RUN-08 no more is fetched than there is room for, however much there is", async () => {
    const run = begin({ writes: [write("void", 900)] }, ...Array.from({ length: 50 }, () => "events.a"));
    await run.pass(300);
    expect(run.flight.messages).toBe(8);
  });

  test("FW-RUN-37 a message delivered again while it is written is not written again, and its newest subject is acked", async () => {
    const run = begin({ writes: [write("void", 600)] }, "events.a");
    await run.pass(200);
    run.stream.hurry(1100);
    await run.pass(1000);
    expect(run.destination.batches).toEqual([[1]]);
    expect(run.stream.verbs.filter((verb) => verb.startsWith("+ACK"))).toEqual(["+ACK 1 of delivery 2"]);
  });

  test("FW-ERR-03 an unsafe sink that refuses a batch as a whole gets its messages one by one, and only the bad one is dead-lettered", async () => {
    const writes = [write("permanent"), write("void"), write("permanent"), write("void")];
    const run = begin({ safety: "unsafe", writes }, "events.a", "events.b", "events.c");
    await run.pass(500);
    expect(run.destination.batches).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect([texts(run.condemned), texts(run.destination.stored), texts(run.stream.acked)]).toEqual([[2], [1, 3], [1, 2, 3]]);
  });

  test.each(["wrong length", "configuration"] as const)(
    "FW-ERR-01 FW-ERR-02 a sink at fault (%s) pauses the pipeline; nothing is acked until it was resumed",
    async (end) => {
      const run = begin({ writes: [write(end)] }, "events.a");
      await run.pass(3000);
      expect(run.pipeline.pausedReason).not.toBeNull();
      expect([run.stream.acked.size, run.condemned.size, run.destination.batches.length]).toEqual([0, 0, 1]);
      run.pipeline.resume();
      await run.pass(100);
      expect(texts(run.stream.acked)).toEqual([1]);
    },
  );

  test("FW-RUN-38 a pause keeps leases for max_lease_ms, then gives back", async () => {
    const run = begin({ writes: [write("configuration")] }, "events.a");
    await run.pass(1100);
    expect([run.flight.size, run.stream.deliveries]).toEqual([1, 1]);
    await run.pass(400);
    expect([run.flight.size, run.stream.verbs.at(-1)]).toEqual([0, "-NAK 1 of delivery 1"]);
  });
});

describe("outages", () => {
  test("FW-RUN-19 are waited out without fetching, without redelivery and without budget", async () => {
    const away = Array.from({ length: 12 }, () => write("unavailable"));
    const run = begin({ writes: away, maxRetries: 0, maxDeliver: 2 }, "events.a", "events.b");
    await run.pass(1500);
    expect([run.pipeline.outage?.code, run.stream.deliveries, run.condemned.size]).toEqual(["destination_unavailable", 2, 0]);
    await run.pass(3000);
    expect([run.pipeline.outage, texts(run.stream.acked)]).toEqual([null, [1, 2]]);
  });

  test("FW-RUN-19 a probe that comes to nothing, because its write is stuck, does not end fetching for ever", async () => {
    const run = begin({ writes: [write("unavailable"), stuck(4000)], batchSize: 1 }, "events.a");
    await run.pass(3000);
    expect(run.pipeline.stuckWrites).toBe(1);
    await run.pass(3000);
    expect([run.pipeline.outage, texts(run.stream.acked)]).toEqual([null, [1]]);
  });
});

describe("stuck writes", () => {
  test("FW-RUN-16 a write older than the longest lease is aborted; one that does not end leaves its messages to redelivery and keeps its slot", async () => {
    const run = begin({ writes: [stuck(5000)] }, "events.a");
    await run.pass(1600);
    expect([run.pipeline.stuckWrites, run.pipeline.activeWrites, run.flight.size]).toEqual([1, 1, 0]);
    await run.pass(1500);
    expect([run.stream.deliveries, run.destination.batches.length]).toEqual([2, 1]);
    await run.pass(3000);
    expect([run.pipeline.stuckWrites, texts(run.stream.acked), run.destination.batches.length]).toEqual([0, [1], 2]);
  });

  test("FW-RUN-13 FW-RUN-16 nothing overtakes the messages of a stuck write in an ordered lane", async () => {
    const run = begin({ ordering: "strict", batchSize: 1, writes: [stuck(5000)] }, "events.a", "events.a", "events.a");
    await run.pass(12_000);
    expect([run.broken, run.destination.batches]).toEqual([[], [[1], [1], [2], [3]]]);
  });
});

describe("poison in an ordered lane", () => {
  test("FW-RUN-36 park_key holds the key, also what arrives later, and lets others go; after a repair the order is the old one", async () => {
    const writes = [write("outcomes", 1, ["permanent"])];
    const run = begin({ ordering: "per_key", onPoison: "park_key", batchSize: 1, writes }, "events.a", "events.a", "events.b");
    await run.pass(300);
    run.stream.store("events.a");
    await run.pass(2500);
    expect([texts(run.stream.acked), run.flight.held, run.flight.messages]).toEqual([[3], 3, 0]);
    run.pipeline.resume();
    await run.pass(1000);
    expect([run.broken, texts(run.stream.acked)]).toEqual([[], [1, 2, 3, 4]]);
    expect(run.destination.batches.slice(2)).toEqual([[1], [2], [4]]);
  });

  test("FW-RUN-36 a parked message whose body cannot be read back keeps the later ones waiting until it can", async () => {
    const run = begin(
      { ordering: "strict", onPoison: "park_key", batchSize: 1, writes: [write("outcomes", 1, ["permanent"])] },
      "events.a",
      "events.a",
      "events.a",
    );
    await run.pass(300);
    expect(run.flight.held).toBe(3);
    run.stream.unreadable.add(2);
    run.pipeline.resume();
    await run.pass(2000);
    expect(texts(run.stream.acked)).toEqual([1]);
    run.stream.unreadable.clear();
    await run.pass(2000);
    expect([run.broken, texts(run.stream.acked)]).toEqual([[], [1, 2, 3]]);
  });

  test("FW-RUN-36 stop pauses with the message in its place", async () => {
    const run = begin(
      { ordering: "strict", onPoison: "stop", batchSize: 1, writes: [write("outcomes", 1, ["permanent"])] },
      "events.a",
      "events.a",
    );
    await run.pass(500);
    expect([run.pipeline.pausedReason, run.stream.acked.size]).toEqual(["poison (permanent) at sequence 1", 0]);
    run.pipeline.resume();
    await run.pass(500);
    expect([run.broken, texts(run.stream.acked)]).toEqual([[], [1, 2]]);
  });
});

describe("held messages", () => {
  test("FW-RUN-38 a retry-exhausted one is tried again after the longest back-off, under its lease, its body read anew", async () => {
    const run = begin({ deadLetters: false, maxRetries: 0, writes: [write("temporary")] }, "events.a");
    await run.pass(300);
    expect([run.flight.held, run.flight.messages, run.flight.bytes]).toEqual([1, 0, 0]);
    await run.pass(1500);
    expect([texts(run.stream.acked), run.stream.deliveries]).toEqual([[1], 1]);
  });

  test("FW-DLQ-08 a permanent one stays until a repair, under its lease", async () => {
    const run = begin({ deadLetters: false, writes: [write("outcomes", 1, ["permanent"])] }, "events.a");
    await run.pass(5000);
    expect([run.flight.held, run.stream.deliveries, run.destination.batches.length]).toEqual([1, 1, 1]);
  });
});

describe("the connection", () => {
  test("FW-RUN-25 acks that were lost with it are sent again after it came back", async () => {
    const run = begin({ writes: [write("void", 100)] }, "events.a");
    await run.pass(50);
    run.disconnect();
    await run.pass(300);
    expect([run.destination.stored.size, run.stream.acked.size]).toEqual([1, 0]);
    run.stream.reconnect();
    await run.pass(300);
    expect([texts(run.stream.acked), run.destination.batches.length]).toEqual([[1], 1]);
  });
});

describe("lost leases", () => {
  test("FW-RUN-17 FW-RUN-37 a message that is being written while its lease runs out is not written again", async () => {
    const run = begin({ ordering: "strict", writes: [write("void", 1150)] }, "events.a");
    await run.pass(50);
    run.disconnect();
    await run.pass(1060);
    run.stream.reconnect();
    await run.pass(1000);
    expect([run.destination.batches, texts(run.stream.acked), run.stream.deliveries]).toEqual([[[1]], [1], 2]);
  });

  test("FW-RUN-13 messages that wait give their place back at once and come again in their order", async () => {
    const run = begin({ ordering: "strict", batchSize: 1, writes: [write("void", 1150)] }, "events.a", "events.a", "events.a");
    await run.pass(50);
    run.disconnect();
    await run.pass(1080);
    expect([...run.flight.entries()].map(({ sequence }) => sequence)).toEqual([1]);
    run.stream.reconnect();
    await run.pass(1500);
    expect([run.broken, run.destination.batches, texts(run.stream.acked)]).toEqual([[], [[1], [2], [3]], [1, 2, 3]]);
  });

  test("FW-RUN-13 later messages whose leases still last are given back with the lost one", async () => {
    const run = begin({ ordering: "strict", batchSize: 1, writes: [write("void", 1000)] }, "events.a", "events.a");
    await run.pass(600);
    run.stream.store("events.a");
    await run.pass(30);
    expect(run.flight.get(3)?.leaseUntil).toBeGreaterThan(run.flight.get(2)?.leaseUntil ?? 0);
    run.disconnect();
    await run.pass(890);
    expect([...run.flight.entries()].map(({ sequence }) => sequence)).toEqual([1]);
    run.stream.reconnect();
    await run.pass(2000);
    expect([run.broken, texts(run.stream.acked)]).toEqual([[], [1, 2, 3]]);
  });
});

describe("another epoch", () => {
  test("FW-RUN-33 what a new consumer of the same stream delivers again while it is written is acked there, not written again", async () => {
    const run = begin({ writes: [write("void", 600)] }, "events.a");
    await run.pass(100);
    run.stream.recreateConsumer();
    await run.pass(1000);
    expect([run.destination.batches, run.stream.verbs.filter((verb) => verb.startsWith("+ACK"))]).toEqual([
      [[1]],
      ["+ACK 1 of delivery 1"],
    ]);
    expect([run.stream.deliveries, texts(run.stream.acked)]).toEqual([1, [1]]);
  });

  test("FW-RUN-33 of a new stream nothing is taken for a message of the old one, and nothing of the old one is begun or settled", async () => {
    const run = begin({ ordering: "strict", slots: 2, batchSize: 1, writes: [write("void", 900)] }, "events.a", "events.b");
    await run.pass(100);
    run.recreateStream();
    run.stream.store("events.new");
    await run.pass(500);
    // The old write is still under way, about a sequence that is another message by now.
    expect([run.broken, texts(run.stream.acked)]).toEqual([[], []]);
    await run.pass(1500);
    expect([run.broken, texts(run.stream.acked), run.destination.batches]).toEqual([[], [1], [[1], [1]]]);
    expect([run.flight.size, run.stream.verbs.filter((verb) => verb.startsWith("+ACK"))]).toEqual([0, ["+ACK 1 of delivery 1"]]);
  });

  test("FW-RUN-33 an old write that is still under way blocks no lane of the new stream", async () => {
    const run = begin({ ordering: "per_key", slots: 2, batchSize: 1, writes: [write("void", 900)] }, "events.a");
    await run.pass(100);
    run.recreateStream();
    run.stream.store("events.a");
    await run.pass(500);
    expect([texts(run.stream.acked), run.pipeline.activeWrites]).toEqual([[1], 1]);
  });
});

describe("after a restart", () => {
  test("FW-RUN-13 messages beyond the last delivered one wait until those of the dead process have come again", async () => {
    const run = begin({ ordering: "strict", batchSize: 1, writes: [write("void", 60_000)] }, "events.a", "events.a");
    await run.pass(300);
    run.kill();
    run.stream.store("events.a");
    await run.pass(400);
    expect(run.destination.stored.size).toBe(0);
    await run.pass(3000);
    expect([run.broken, run.destination.batches.slice(1)]).toEqual([[], [[1], [2], [3]]]);
  });

  test("FW-RUN-13 leases run out in the order of the sequences, so that a lane comes again in its order", async () => {
    const run = begin({ ordering: "strict", batchSize: 1, writes: [write("void", 60_000)] }, "events.a");
    await run.pass(250);
    run.stream.store("events.a");
    await run.pass(150);
    run.kill();
    await run.pass(3000);
    expect(run.destination.batches.slice(1)).toEqual([[1], [2]]);
  });
});

describe("stopping", () => {
  test("FW-RUN-28 fetches nothing more, writes what is here, and then nothing begins", async () => {
    const run = begin({ batchSize: 2, writes: [write("void", 100)] }, "events.a", "events.b", "events.c");
    await run.pass(50);
    run.pipeline.stopPulling();
    for (let count = 0; count < 5; count += 1) run.stream.store("events.late");
    await run.pass(1200);
    expect([run.pipeline.drained, texts(run.destination.stored).slice(0, 3)]).toEqual([true, [1, 2, 3]]);
    const { deliveries } = run.stream;
    run.pipeline.dispose();
    run.pipeline.changed();
    await run.pass(2000);
    expect(run.stream.deliveries).toBe(deliveries);
  });

  test("FW-RUN-28 what is unstarted is given back without delay, what is being written is not", async () => {
    const run = begin({ batchSize: 1, slots: 1, writes: [write("void", 300)] }, "events.a", "events.b");
    await run.pass(100);
    run.pipeline.stopPulling();
    run.pipeline.giveBackUnstarted();
    expect(run.stream.verbs.filter((verb) => verb.startsWith("-NAK"))).toEqual(["-NAK 2 of delivery 1"]);
    expect(run.flight.messages).toBe(1);
  });

  test("FW-RUN-29 an aborted write is awaited, and its message is neither acked nor lost", async () => {
    const run = begin({ writes: [write("void", 60_000)] }, "events.a");
    await run.pass(100);
    run.pipeline.stopPulling();
    run.pipeline.abortWrites();
    await run.pass(50);
    expect([run.pipeline.activeWrites, run.stream.acked.size]).toEqual([0, 0]);
  });
});

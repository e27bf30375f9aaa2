import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { DeadLetter } from "../../src/dead-letter/form.js";
import { type DeadLetterSettings, DeadLetters } from "../../src/dead-letter/publisher.js";
import { type DeadLetterMessage, fits } from "../../src/dead-letter/size.js";
import { SizePolicyViolationError } from "../../src/error/errors.js";
import { FakeDeadLetterPort } from "../fakes/fake-dead-letter-port.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

const pauses = vi.hoisted(() => ({ waited: [] as number[], afterwards: (_count: number): void => undefined }));

vi.mock("../../src/source/pause.js", () => ({
  pause: async (ms: number): Promise<void> => {
    pauses.waited.push(ms);
    pauses.afterwards(pauses.waited.length);
  },
}));

beforeEach(() => {
  pauses.waited.length = 0;
  pauses.afterwards = (count) => {
    if (count > 1000) throw new Error("endless");
  };
});

const waitMs = (failures: number): number => Math.min(250, 100 * failures);

const headers = new Map([["Nats-Sinks-Original-Subject", "events.a"]]);

/** A letter of one message, or none where that does not fit. */
function letterAs(message: DeadLetterMessage): DeadLetter {
  return { id: message.id, messages: (limits) => (fits([message], limits) ? [message] : null) };
}

function letterOf(id: string): DeadLetter {
  return letterAs({ body: new TextEncoder().encode(`{"id":"${id}"}`), headers, id });
}

function deadLetters(overrides: Partial<DeadLetterSettings> = {}) {
  const port = new FakeDeadLetterPort();
  const telemetry = new RecordingTelemetry();
  const letters = new DeadLetters(
    port,
    { subject: "dlq.a", stream: null, domain: null, maxBytes: null, maxInFlight: 4, waitMs, ...overrides },
    telemetry,
  );
  return { port, telemetry, letters };
}

const nobodyLeaves = new AbortController().signal;

describe("publishing a dead letter", () => {
  test("FW-DLQ-03 a duplicate is not believed when the entry it names is on another subject", async () => {
    const { port, letters } = deadLetters();
    await port.publish("dlq.other", new Uint8Array(), new Map(), "a");
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(port.published.map(({ subject, id }) => [subject, id])).toEqual([
      ["dlq.other", "a"],
      ["dlq.a", "a"],
      ["dlq.a", "a-r1"],
    ]);
  });

  test("FW-DLQ-05 a record larger than the server takes is not sent, and says so", async () => {
    const { port, letters } = deadLetters();
    port.limit = 20;
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("too_large");
    expect(port.published).toHaveLength(0);
    port.limit = 1_048_576;
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
  });

  test("FW-DLQ-01 is done when the stream that captures the subject has acknowledged", async () => {
    const { port, letters } = deadLetters();
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(port.published).toEqual([{ subject: "dlq.a", body: '{"id":"a"}', headers, id: "a" }]);
    expect(pauses.waited).toEqual([]);
  });

  test("FW-DLQ-01 FW-DLQ-06 another stream's word does not count: again with back-off until the right one answers", async () => {
    const { port, telemetry, letters } = deadLetters({ stream: "DLQ" });
    port.stream = "OTHER";
    port.beforePublish = () => {
      if (port.published.length === 4) port.stream = "DLQ";
    };
    // What the other stream took stays there; the ids it knows are its own.
    port.ids.clear();
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(pauses.waited).toEqual([100, 200, 250]);
    expect(telemetry.counted("dlq_errors_total")).toBe(3);
  });

  test("FW-DLQ-01 a configured stream is expected and not looked up", async () => {
    const { port, letters } = deadLetters({ stream: "DLQ" });
    await letters.publish(letterOf("a"), nobodyLeaves);
    expect(port.lookups).toBe(0);
  });

  test("FW-DLQ-01 without a configured one it is looked up once, and again after each failure", async () => {
    const { port, letters } = deadLetters();
    await letters.publish(letterOf("a"), nobodyLeaves);
    await letters.publish(letterOf("b"), nobodyLeaves);
    expect(port.lookups).toBe(1);
    port.stream = "DLQ2";
    expect(await letters.publish(letterOf("c"), nobodyLeaves)).toBe("published");
    expect(port.lookups).toBe(2);
  });

  test("FW-DLQ-01 with no stream that captures the subject nothing is published and nothing counts as done", async () => {
    const { port, letters } = deadLetters();
    port.stream = null;
    const leaving = new AbortController();
    pauses.afterwards = (count) => {
      if (count === 3) leaving.abort();
    };
    expect(await letters.publish(letterOf("a"), leaving.signal)).toBe("aborted");
    expect([port.published.length, port.lookups]).toEqual([0, 3]);
  });

  test("FW-DLQ-06 errors are waited out with back-off; a policy of zero does not spin", async () => {
    const { port, letters } = deadLetters({ waitMs: () => 0 });
    port.beforePublish = () => {
      if (port.published.length < 6) throw new Error("no responders");
    };
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(pauses.waited).toHaveLength(5);
    for (const waited of pauses.waited) expect(waited).toBeGreaterThanOrEqual(10);
  });

  test("FW-DLQ-06 an abort ends the attempts and says that nothing is known to be stored", async () => {
    const { port, letters } = deadLetters();
    const leaving = new AbortController();
    port.beforePublish = () => {
      leaving.abort();
      throw new Error("closed");
    };
    expect(await letters.publish(letterOf("a"), leaving.signal)).toBe("aborted");
    expect(port.published).toHaveLength(1);
    expect(await letters.publish(letterOf("b"), leaving.signal)).toBe("aborted");
    expect(port.published).toHaveLength(1);
  });

  test("FW-DLQ-01 an acknowledgement that came counts, even when the process began to leave meanwhile", async () => {
    const { port, letters } = deadLetters();
    const leaving = new AbortController();
    port.beforePublish = () => leaving.abort();
    expect(await letters.publish(letterOf("a"), leaving.signal)).toBe("published");
  });

  test("FW-ERR-07 what goes wrong is told by class, not by text", async () => {
    const { port, telemetry, letters } = deadLetters();
    port.beforePublish = () => {
      if (port.published.length === 1) throw new RangeError("secret payload");
    };
    await letters.publish(letterOf("a"), nobodyLeaves);
    expect(JSON.stringify(telemetry.events)).toContain("RangeError");
    expect(JSON.stringify(telemetry.events)).not.toContain("secret");
  });
});

describe("a record that is too large", () => {
  test("FW-DLQ-05 is said to be so and not sent again and again; headers count as well", async () => {
    const { port, letters } = deadLetters();
    const letter = (bytes: number, subject = "events.a"): DeadLetter =>
      letterAs({ body: new Uint8Array(bytes), headers: new Map([["Nats-Sinks-Original-Subject", subject]]), id: "a" });
    expect(await letters.publish(letter(port.maxPayload() + 1), nobodyLeaves)).toBe("too_large");
    expect(await letters.publish(letter(port.maxPayload() - 10), nobodyLeaves)).toBe("too_large");
    expect(await letters.publish(letter(port.maxPayload() - 5000, "x".repeat(5000)), nobodyLeaves)).toBe("too_large");
    expect(port.published).toEqual([]);
    expect(await letters.publish(letter(port.maxPayload() - 5000), nobodyLeaves)).toBe("published");
  });
});

describe("the limits of the stream", () => {
  /** A letter of `count` messages of `bytes` each, where one is allowed to be that large; else of twice as many halves. */
  function halving(bytes: number, count = 1): DeadLetter {
    const messages: DeadLetter["messages"] = (limits) => {
      for (let parts = count, size = bytes; parts <= 64; parts *= 2, size /= 2) {
        const all = Array.from({ length: parts }, (_, index) => ({ body: new Uint8Array(size), headers, id: `h-c${index + 1}/${parts}` }));
        if (fits(all, limits)) return all;
      }
      return null;
    };
    return { id: "h", messages };
  }

  test("FW-DLQ-05 are read with the stream, once, and not again for each letter", async () => {
    const { port, letters } = deadLetters();
    port.limits = { messageBytes: 900, totalBytes: null, messages: null };
    expect(await letters.publish(halving(1600), nobodyLeaves)).toBe("published");
    expect(port.published.map(({ body }) => body.length)).toEqual([800, 800]);
    await letters.publish(letterOf("b"), nobodyLeaves);
    expect(port.limitReads).toBe(1);
  });

  test("FW-DLQ-11 letters that begin together look the stream up once, and once more after a failure of all", async () => {
    const { port, letters } = deadLetters({ maxInFlight: 20 });
    let failures = 0;
    port.beforePublish = () => {
      failures += 1;
      if (failures <= 20) throw new Error("no responders");
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => letters.publish(letterOf(`m${index}`), nobodyLeaves)));
    expect(port.entries.size).toBe(20);
    expect(port.lookups).toBe(2);
  });

  test("FW-DLQ-05 FW-DLQ-11 are read again after a failure, and before a letter is called too large", async () => {
    const { port, letters } = deadLetters();
    port.limits = { messageBytes: 300, totalBytes: null, messages: null };
    await letters.publish(letterOf("a"), nobodyLeaves);
    port.limits = { messageBytes: 2000, totalBytes: null, messages: null };
    const large = letterAs({ body: new Uint8Array(1500), headers, id: "b" });
    expect(await letters.publish(large, nobodyLeaves)).toBe("published");
    expect(port.limitReads).toBe(2);
    port.limits = { messageBytes: 100, totalBytes: null, messages: null };
    let failed = false;
    port.beforePublish = () => {
      if (!failed) {
        failed = true;
        throw new Error("no responders");
      }
    };
    expect(await letters.publish(letterAs({ body: new Uint8Array(1500), headers, id: "c" }), nobodyLeaves)).toBe("too_large");
    expect(port.limitReads).toBeGreaterThan(2);
  });

  test("FW-DLQ-05 a size that the stream refuses all the same is halved, and no retry is lost over it", async () => {
    const { port, letters } = deadLetters();
    const most = 1000;
    port.beforePublish = ({ body }) => {
      if (body.length > most) throw new SizePolicyViolationError("too large");
    };
    expect(await letters.publish(halving(4096), nobodyLeaves)).toBe("published");
    expect([...port.entries.values()].every(({ body }) => body.length <= most)).toBe(true);
    expect([...port.entries.values()].reduce((sum, { body }) => sum + body.length, 0)).toBe(4096);
    expect(pauses.waited).toEqual([]);
  });

  test("FW-DLQ-05 a stream that refuses every size is not asked for ever", async () => {
    const { port, letters } = deadLetters();
    port.beforePublish = () => {
      throw new SizePolicyViolationError("too large");
    };
    expect(await letters.publish(halving(4096), nobodyLeaves)).toBe("too_large");
    expect([port.published.length < 10, pauses.waited]).toEqual([true, []]);
  });

  test("FW-DLQ-05 FW-DLQ-01 a letter whose beginning the stream has discarded for its end is not done", async () => {
    const { port, letters } = deadLetters();
    port.beforePublish = ({ id }) => {
      // Once, the first part is gone when the last one is there.
      if (id === "h-c2/2" && port.published.length === 2) port.entries.clear();
    };
    expect(await letters.publish(halving(500, 2), nobodyLeaves)).toBe("published");
    expect(pauses.waited).toHaveLength(1);
    expect([...port.entries.values()].map(({ id }) => id).sort()).toEqual(["h-c1/2-r1", "h-c2/2"]);
  });

  test("FW-DLQ-05 FW-DLQ-06 a process that leaves between two parts settles nothing", async () => {
    const { port, letters } = deadLetters();
    const leaving = new AbortController();
    port.beforePublish = () => leaving.abort();
    expect(await letters.publish(halving(500, 2), leaving.signal)).toBe("aborted");
    expect(port.published).toHaveLength(1);
  });
});

describe("another domain", () => {
  test("FW-DLQ-11 a stream of the same name in another domain settles nothing", async () => {
    const { port, telemetry, letters } = deadLetters({ domain: "hub" });
    port.domain = "leaf";
    port.beforePublish = () => {
      if (port.published.length === 3) port.domain = "hub";
    };
    port.ids.clear();
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(pauses.waited).toHaveLength(2);
    expect(JSON.stringify(telemetry.events)).toContain("leaf:DLQ");
  });
});

describe("a repeat", () => {
  test("FW-DLQ-03 is one entry while the first is still there", async () => {
    const { port, letters } = deadLetters();
    await letters.publish(letterOf("a"), nobodyLeaves);
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(port.entries.size).toBe(1);
  });

  test("FW-DLQ-03 is published under the next id when the entry it duplicates is gone", async () => {
    const { port, letters } = deadLetters();
    await letters.publish(letterOf("a"), nobodyLeaves);
    port.entries.clear();
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(port.published.map(({ id }) => id)).toEqual(["a", "a", "a-r1"]);
    port.entries.clear();
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(port.published.map(({ id }) => id).slice(3)).toEqual(["a", "a-r1", "a-r2"]);
    expect([...port.entries.values()].map(({ id }) => id)).toEqual(["a-r2"]);
  });

  test("FW-DLQ-03 is not believed when the entry cannot be read back: the whole publication again", async () => {
    const { port, letters } = deadLetters();
    await letters.publish(letterOf("a"), nobodyLeaves);
    let reads = 0;
    port.beforeRead = () => {
      reads += 1;
      if (reads < 3) throw new Error("timeout");
    };
    expect(await letters.publish(letterOf("a"), nobodyLeaves)).toBe("published");
    expect(pauses.waited).toHaveLength(2);
    expect(port.published.map(({ id }) => id)).toEqual(["a", "a", "a", "a"]);
  });
});

describe("several at a time", () => {
  test("FW-DLQ-06 up to max_in_flight, the others wait their turn, in order", async () => {
    const { port, letters } = deadLetters({ maxInFlight: 2 });
    const open: (() => void)[] = [];
    port.beforePublish = () => new Promise((resolve) => open.push(resolve));
    const ids = ["a", "b", "c", "d"];
    const all = ids.map((id) => letters.publish(letterOf(id), nobodyLeaves));
    for (let done = 0; done < ids.length; done += 1) {
      await vi.waitFor(() => expect(open.length).toBeGreaterThan(done));
      expect(port.published.length).toBeLessThanOrEqual(done + 2);
      (open[done] as () => void)();
    }
    expect(await Promise.all(all)).toEqual(["published", "published", "published", "published"]);
    expect(port.published.map(({ id }) => id)).toEqual(ids);
  });

  test("FW-DLQ-06 those that wait for their turn end as well when the process leaves", async () => {
    const { port, letters } = deadLetters({ maxInFlight: 1 });
    const leaving = new AbortController();
    port.beforePublish = () => {
      leaving.abort();
      throw new Error("closed");
    };
    expect(await Promise.all(["a", "b", "c"].map((id) => letters.publish(letterOf(id), leaving.signal)))).toEqual([
      "aborted",
      "aborted",
      "aborted",
    ]);
    expect(port.published).toHaveLength(1);
  });
});

describe("any course of things", () => {
  const events = fc.array(fc.constantFrom("store", "fail before", "fail after", "lose entries", "other stream", "no stream"), {
    maxLength: 40,
  });

  test("FW-DLQ-01 FW-DLQ-03 true is said only with an entry of that message in the expected stream, at that moment", async () => {
    await fc.assert(
      fc.asyncProperty(events, fc.integer({ min: 1, max: 4 }), async (script, count) => {
        const { port, letters } = deadLetters({ stream: "DLQ" });
        pauses.waited.length = 0;
        const left = [...script];
        const publish = port.publish.bind(port);
        port.publish = async (subject, body, headers, id) => {
          const event = left.shift() ?? "store";
          if (event === "fail before") throw new Error("no responders");
          if (event === "lose entries") port.entries.clear();
          if (event === "other stream" || event === "no stream")
            return { stream: "OTHER", domain: null, sequence: 1, duplicate: event === "no stream" };
          const publication = await publish(subject, body, headers, id);
          if (event === "fail after") throw new Error("timeout");
          return publication;
        };
        for (let index = 0; index < count; index += 1) {
          expect(await letters.publish(letterOf(`m${index}`), nobodyLeaves)).toBe("published");
          expect([...port.entries.values()].some(({ id }) => id.replace(/-r\d+$/, "") === `m${index}`)).toBe(true);
        }
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FlightEntry } from "../../src/runner/flight.js";
import { Settlement, type SettleSettings } from "../../src/runner/settle.js";
import { entryOf } from "../fakes/entries.js";
import { FakeAckPort, type SentVerb } from "../fakes/fake-ack-port.js";
import { ackText, positionOf } from "../fakes/positions.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

function settling(mode: SettleSettings["mode"] = "batch_confirmed", leaving = new AbortController()) {
  const port = new FakeAckPort();
  const telemetry = new RecordingTelemetry();
  return { port, telemetry, settlement: new Settlement(port, { mode, confirmTimeoutMs: 100 }, telemetry, leaving.signal) };
}

function entries(count: number, epoch = 1): FlightEntry[] {
  return Array.from({ length: count }, (_, index) => entryOf({ sequence: index + 1 }, { epoch }));
}

function subjects(sent: readonly SentVerb[]): string[] {
  return sent.map(({ subject }) => subject);
}

const three = [1, 2, 3].map((sequence) => ackText({ sequence }));

describe("modes", () => {
  test.each([
    ["plain", [false, false, false]],
    ["batch_confirmed", [false, false, true]],
    ["confirmed", [true, true, true]],
  ] as const)("FW-RUN-23 %s", async (mode, confirmed) => {
    const { port, settlement } = settling(mode);
    expect(await settlement.acknowledge(entries(3))).toBe(true);
    expect(subjects(port.sent)).toEqual(three);
    expect(port.sent.map((sent) => sent.confirmed)).toEqual(confirmed);
    expect(port.verbs).toEqual(["+ACK", "+ACK", "+ACK"]);
  });

  test("FW-RUN-23 the acks of a batch do not wait for one another", async () => {
    const { port, settlement } = settling("confirmed");
    const answers: ((answer: "confirmed") => void)[] = [];
    port.answer = () => new Promise((resolve) => answers.push(resolve));
    const settled = settlement.acknowledge(entries(3));
    await Promise.resolve();
    expect(port.sent).toHaveLength(3);
    for (const answer of answers) answer("confirmed");
    expect(await settled).toBe(true);
  });

  test("FW-RUN-26 TERM follows the same rules", async () => {
    for (const mode of ["plain", "batch_confirmed", "confirmed"] as const) {
      const { port, settlement } = settling(mode);
      expect(await settlement.terminate(entries(2))).toBe(true);
      expect(port.verbs).toEqual(["+TERM", "+TERM"]);
    }
  });

  test("FW-RUN-23 an empty batch sends nothing", async () => {
    for (const mode of ["plain", "batch_confirmed", "confirmed"] as const) {
      const { port, settlement } = settling(mode);
      expect(await settlement.acknowledge([])).toBe(true);
      expect(port.sent).toEqual([]);
    }
  });
});

describe("confirmation", () => {
  test.each(["timed_out", "no_responders"] as const)(
    "FW-RUN-24 FW-RUN-25 %s: the whole batch again, three times in all, then left to redelivery",
    async (answer) => {
      const { port, telemetry, settlement } = settling();
      port.answer = () => answer;
      expect(await settlement.acknowledge(entries(3))).toBe(false);
      expect(subjects(port.sent)).toEqual([...three, ...three, ...three]);
      expect(telemetry.counted("unconfirmed_acks_total")).toBe(9);
    },
  );

  test("FW-RUN-24 a confirmation is repeated for the same subject until it comes", async () => {
    const { port, settlement } = settling();
    port.answer = () => (port.sent.length < 6 ? "timed_out" : "confirmed");
    expect(await settlement.acknowledge(entries(3))).toBe(true);
    expect(port.sent).toHaveLength(6);
  });

  test("FW-RUN-24 in mode confirmed one missing answer counts for every message of the batch", async () => {
    const { port, telemetry, settlement } = settling("confirmed");
    port.answer = ({ subject }) => (port.sent.length <= 3 && subject === three[1] ? "timed_out" : "confirmed");
    expect(await settlement.acknowledge(entries(3))).toBe(true);
    expect([port.sent.length, telemetry.counted("unconfirmed_acks_total")]).toEqual([6, 3]);
  });

  test("FW-RUN-37 a repeat goes to the newest subject of a message delivered again meanwhile", async () => {
    const { port, settlement } = settling();
    const [entry] = entries(1) as [FlightEntry];
    port.answer = () => {
      if (port.sent.length > 1) return "confirmed";
      entry.position = positionOf({ sequence: 1, count: 2 });
      return "timed_out";
    };
    await settlement.acknowledge([entry]);
    expect(subjects(port.sent)).toEqual([ackText({ sequence: 1 }), ackText({ sequence: 1, count: 2 })]);
  });
});

describe("the connection", () => {
  test("FW-RUN-25 plain acks count only when the same connection was there before and after", async () => {
    const { port, settlement } = settling("plain");
    let sends = 0;
    port.beforeSend = () => {
      sends += 1;
      if (sends === 2) port.generation += 1;
    };
    expect(await settlement.acknowledge(entries(3))).toBe(true);
    expect(port.sent).toHaveLength(6);
  });

  test("FW-RUN-25 a connection that is gone afterwards proves nothing", async () => {
    const { port, settlement } = settling("plain");
    port.beforeSend = () => {
      port.connected = false;
    };
    expect(await settlement.acknowledge(entries(2))).toBe(false);
  });

  test("FW-RUN-25 a confirmation over another connection than the acks before it does not count for them", async () => {
    const { port, settlement } = settling();
    port.answer = () => {
      if (port.generation === 1) port.generation = 2;
      return "confirmed";
    };
    expect(await settlement.acknowledge(entries(3))).toBe(true);
    expect(subjects(port.sent)).toEqual([...three, ...three]);
  });

  test("FW-RUN-33 no ack verb is sent while the epoch is in doubt; the acks wait", async () => {
    const { port, settlement } = settling();
    port.trusted = false;
    let resolve: (settles: boolean) => void = () => undefined;
    port.settling = () =>
      new Promise((done) => {
        resolve = done;
      });
    const settled = settlement.acknowledge(entries(1));
    await Promise.resolve();
    expect(port.sent).toEqual([]);
    port.trusted = true;
    resolve(true);
    expect(await settled).toBe(true);
    expect(port.sent).toHaveLength(1);
  });

  test("FW-RUN-33 a doubt raised while the wait was ending is waited for as well", async () => {
    const { port, settlement } = settling();
    port.trusted = false;
    let waits = 0;
    port.settling = () => {
      waits += 1;
      port.trusted = waits === 3;
      return true;
    };
    port.beforeSend = () => expect(port.trusted).toBe(true);
    expect(await settlement.acknowledge(entries(2))).toBe(true);
    expect(waits).toBe(3);
  });

  test("FW-RUN-28 when the process leaves nothing is waited for, and nothing is acknowledged", async () => {
    const { port, settlement } = settling();
    port.trusted = false;
    port.settling = () => false;
    expect(await settlement.acknowledge(entries(1))).toBe(false);
    expect(port.sent).toEqual([]);
  });

  test("FW-RUN-28 a wait that ends by leaving sends nothing, whatever it says", async () => {
    const leaving = new AbortController();
    const { port, settlement } = settling("batch_confirmed", leaving);
    port.trusted = false;
    port.settling = () => {
      leaving.abort();
      return true;
    };
    expect(await settlement.acknowledge(entries(1))).toBe(false);
    expect(port.sent).toEqual([]);
  });
});

describe("epochs", () => {
  test("FW-RUN-33 deliveries of another epoch are never settled, the others of the batch are", async () => {
    const { port, telemetry, settlement } = settling();
    port.epochNumber = 2;
    const mixed = [entryOf({ sequence: 1 }, { epoch: 1 }), entryOf({ sequence: 2 }, { epoch: 2 })];
    expect(await settlement.acknowledge(mixed)).toBe(false);
    expect(subjects(port.sent)).toEqual([ackText({ sequence: 2 })]);
    expect(telemetry.counted("stale_epoch_settlements_total")).toBe(1);
  });

  test("FW-RUN-33 an epoch that changes between two attempts stops the second", async () => {
    const { port, settlement } = settling();
    port.answer = () => {
      port.epochNumber = 2;
      return "timed_out";
    };
    expect(await settlement.acknowledge(entries(3))).toBe(false);
    expect(port.sent).toHaveLength(3);
  });

  test("FW-RUN-33 naks and heartbeats keep to it as well", () => {
    const { port, settlement } = settling();
    const [entry] = entries(1) as [FlightEntry];
    const send = (): boolean[] => [settlement.giveBack(entry, 10), settlement.extend(entry)];
    port.epochNumber = 2;
    expect(send()).toEqual([false, false]);
    port.epochNumber = 1;
    port.trusted = false;
    expect(send()).toEqual([false, false]);
    port.trusted = true;
    port.connected = false;
    expect(send()).toEqual([false, false]);
    expect(port.sent).toEqual([]);
    port.connected = true;
    expect(send()).toEqual([true, true]);
  });
});

describe("single verbs", () => {
  test.each([
    [0, "-NAK"],
    [1, '-NAK {"delay":1000000}'],
    [1500, '-NAK {"delay":1500000000}'],
    [0.4, "-NAK"],
    [-5, "-NAK"],
    [3_600_000, '-NAK {"delay":3600000000000}'],
    [86_400_000, '-NAK {"delay":86400000000000}'],
  ])("FW-RUN-18 a nak of %d ms is %s", (delay, verb) => {
    const { port, settlement } = settling();
    expect(settlement.giveBack(entryOf({ sequence: 1 }), delay)).toBe(true);
    expect(port.verbs).toEqual([verb]);
  });

  test("FW-RUN-16 a heartbeat is +WPI to the newest subject", () => {
    const { port, settlement } = settling();
    const entry = entryOf({ sequence: 1 });
    entry.position = positionOf({ sequence: 1, count: 3 });
    settlement.extend(entry);
    expect(port.sent).toEqual([{ subject: ackText({ sequence: 1, count: 3 }), verb: "+WPI", confirmed: false }]);
  });

  test("FW-RUN-27 a verb that cannot be sent is counted and said, not thrown", () => {
    const { port, telemetry, settlement } = settling();
    port.beforeSend = () => {
      throw new Error("closed");
    };
    expect([settlement.giveBack(entryOf({ sequence: 1 }), 5), settlement.extend(entryOf({ sequence: 2 }))]).toEqual([false, false]);
    expect([telemetry.counted("nak_errors_total"), telemetry.counted("heartbeat_errors_total")]).toEqual([1, 1]);
    expect(telemetry.counted("settle_errors_total")).toBe(2);
  });
});

/** What happens at one send or answer. */
type Event = "nothing" | "throw" | "time_out" | "no_responders" | "reconnect" | "disconnect" | "doubt" | "epoch";

describe("any course of things", () => {
  const events = fc.array(
    fc.constantFrom<Event>(
      "nothing",
      "nothing",
      "nothing",
      "throw",
      "time_out",
      "no_responders",
      "reconnect",
      "disconnect",
      "doubt",
      "epoch",
    ),
    {
      maxLength: 60,
    },
  );

  test("FW-RUN-27 FW-RUN-33 never throws, never sends in doubt or for another epoch, at most three times each, and true means proven", async () => {
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom("plain", "batch_confirmed", "confirmed"),
        async (all, count, mode) => {
          const { port, settlement } = settling(mode as SettleSettings["mode"]);
          const script = [...all];
          const generations: number[] = [];
          const happen = (): Event => {
            const event = script.shift() ?? "nothing";
            if (event === "reconnect") port.generation += 1;
            if (event === "disconnect") port.connected = false;
            if (event === "doubt") port.trusted = false;
            if (event === "epoch") port.epochNumber += 1;
            return event;
          };
          port.beforeSend = () => {
            generations.push(port.generation);
            if (happen() === "throw") throw new Error("closed");
          };
          port.answer = () => {
            const event = happen();
            if (event === "throw") return Promise.reject(new Error("closed"));
            if (event === "time_out") return "timed_out";
            return event === "no_responders" ? event : "confirmed";
          };
          port.settling = () => {
            port.trusted = true;
            port.connected = true;
            return true;
          };
          const batch = entries(count);
          const result = await settlement.acknowledge(batch);
          const sends = new Map<string, number>();
          for (const { subject } of port.sent) sends.set(subject, (sends.get(subject) ?? 0) + 1);
          for (const times of sends.values()) expect(times).toBeLessThanOrEqual(3);
          if (result) {
            // All of them, over one connection that is still the one, in one unbroken run at the end.
            expect(subjects(port.sent.slice(-count))).toEqual(batch.map(({ position }) => position.text));
            expect(new Set(generations.slice(-count)).size).toBe(1);
            expect(generations.at(-1)).toBe(port.generation);
            expect(port.connected).toBe(true);
          }
        },
      ),
    );
  });
});

import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PumpSchedule } from "../../src/runner/pump-schedule.js";

class Pumped {
  readonly calls: string[] = [];
  isFull = false;
  full(): boolean {
    return this.isFull;
  }
  refill(): void {
    this.calls.push("refill");
  }
  pump(fullOnly: boolean): void {
    this.calls.push(fullOnly ? "pump full" : "pump");
  }
}

describe("when the pump runs", () => {
  let pumped: Pumped;
  let schedule: PumpSchedule;

  beforeEach(() => {
    pumped = new Pumped();
    schedule = new PumpSchedule(pumped, () => 0);
  });

  afterEach(() => {
    vi.useRealTimers();
    schedule.dispose();
  });

  test("FW-RUN-11 the messages of one chunk cause one refill before the turn of the loop ends", async () => {
    schedule.arrived();
    schedule.arrived();
    await Promise.resolve();
    expect(pumped.calls).toEqual(["refill"]);
  });

  test("FW-RUN-09 a full batch goes after its chunk, not after the turn", async () => {
    pumped.isFull = true;
    schedule.arrived();
    await Promise.resolve();
    expect(pumped.calls).toEqual(["pump full"]);
  });

  test("FW-RUN-09 a partial batch goes after the first turn that brings nothing", async () => {
    schedule.arrived();
    await turn();
    expect(pumped.calls).toEqual(["refill"]);
    await turn();
    expect(pumped.calls).toEqual(["refill", "pump"]);
  });

  test("FW-RUN-09 a stream of messages delays a partial batch by eight turns at most", async () => {
    let turns = 0;
    while (!pumped.calls.includes("pump")) {
      schedule.arrived();
      await turn();
      turns += 1;
    }
    expect(turns).toBe(8);
  });

  test("FW-RUN-09 without messages one turn is enough, and many changes are one run", async () => {
    schedule.changed();
    schedule.changed();
    await turn();
    await turn();
    expect(pumped.calls).toEqual(["pump"]);
  });

  test("FW-RUN-28 after the end nothing runs that was scheduled before it", async () => {
    schedule.arrived();
    schedule.wakeUpAt(0);
    schedule.dispose();
    await turn();
    await turn();
    expect(pumped.calls).toEqual([]);
  });

  test("FW-RUN-18 of several wake-ups the earliest counts", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    schedule.wakeUpAt(3000);
    schedule.wakeUpAt(1000);
    schedule.wakeUpAt(2000);
    vi.advanceTimersByTime(999);
    expect(pumped.calls).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(pumped.calls).toEqual(["pump"]);
  });
});

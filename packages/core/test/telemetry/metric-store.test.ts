import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MetricStore } from "../../src/telemetry/metric-store.js";
import { metricTable } from "../../src/telemetry/metric-table.js";

const newStore = () => new MetricStore(() => 1_700_000_000_000_000_000n);
const dropped = (store: MetricStore) => store.counters.get("metrics_dropped_total")?.total;

describe("counters", () => {
  test("FW-OBS-02 every counter of the table is there from the start, and nothing else", () => {
    const names = Object.entries(metricTable).flatMap(([name, { kind }]) => (kind === "counter" ? [name] : []));
    const store = newStore();
    expect([...store.counters.keys()]).toEqual(names);
    expect([...store.counters.values()].every(({ total }) => total === 0)).toBe(true);
  });

  test("FW-OBS-02 add up, by label too, and an older word for one is the same counter", () => {
    const store = newStore();
    store.count("sink_write_errors_total", 2, "permanent");
    store.count("sink_write_errors_total", 1, "temporary");
    store.count("dlq_errors_total");
    store.count("dlq_publish_errors_total", 2);
    expect(store.counters.get("sink_write_errors_total")).toEqual({
      total: 3,
      parts: new Map([
        ["permanent", 2],
        ["temporary", 1],
      ]),
    });
    expect(store.counters.get("dlq_publish_errors_total")?.total).toBe(3);
    expect(store.counters.has("dlq_errors_total")).toBe(false);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])("FW-OBS-06 %d adds nothing", (by) => {
    const store = newStore();
    store.count("late_acks_total", by);
    expect(store.counters.get("late_acks_total")?.total).toBe(0);
  });

  test("FW-OBS-02 a stored batch sets the time of the last success", () => {
    const store = newStore();
    expect(store.lastSuccessNs).toBeNull();
    store.count("sink_batches_written_total");
    expect(store.lastSuccessNs).toBe(1_700_000_000_000_000_000n);
  });
});

describe("bounds", () => {
  test("FW-OBS-01 whatever is reported, names and labels stay bounded and what is left out is counted", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string(), fc.double()), { maxLength: 400 }), (reports) => {
        const store = newStore();
        for (const [index, [name, label, value]] of reports.entries()) {
          store.count(`${name}_total`, 1, label);
          store.count(`events_${index}_total`, 1, `label_${index}`);
          store.count("late_acks_total", 1, `label_${index}`);
          store.observe(`event_${index}_seconds`, value);
        }
        expect(store.counters.size + store.histograms.size).toBeLessThanOrEqual(Object.keys(metricTable).length + 128);
        for (const { parts } of store.counters.values()) expect(parts.size).toBeLessThanOrEqual(49);
      }),
      { numRuns: 30 },
    );
  });

  test("FW-OBS-01 a label beyond the bound, or one that is no word, counts as other", () => {
    const store = newStore();
    for (let number = 0; number < 60; number += 1) store.count("sink_write_errors_total", 1, `code_${number}`);
    store.count("sink_write_errors_total", 1, 'x"} evil 1\n');
    const { total, parts } = store.counters.get("sink_write_errors_total") ?? { total: 0, parts: new Map() };
    expect([total, parts.size, parts.get("other"), dropped(store)]).toEqual([61, 49, 13, 13]);
  });

  test("FW-OBS-01 a name of another kind, or one that is none, is not kept", () => {
    const store = newStore();
    store.count("event_loop_delay_seconds");
    store.count("not a name_total");
    store.observe("late_acks_total", 1);
    store.count("ready");
    expect(dropped(store)).toBe(4);
  });
});

describe("histograms", () => {
  test("FW-OBS-01 each measurement is in the first bucket that holds it, whatever the order", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 200, noNaN: true })), (values) => {
        const store = newStore();
        for (const value of values) store.observe("sink_batch_write_seconds", value);
        const found = store.histograms.get("sink_batch_write_seconds");
        if (found === undefined) throw new Error("no histogram");
        let below = 0;
        for (const [index, bound] of found.bounds.entries()) {
          below += found.counts[index] ?? 0;
          expect(below).toBe(values.filter((value) => value <= bound).length);
        }
        expect([found.count, found.counts.reduce((sum, count) => sum + count, 0)]).toEqual([values.length, values.length]);
        expect(found.sum).toBeCloseTo(values.reduce((sum, value) => sum + value, 0));
      }),
    );
  });

  test("FW-OBS-01 a measurement that is no number is not kept", () => {
    const store = newStore();
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) store.observe("sink_batch_write_seconds", value);
    expect(store.histograms.get("sink_batch_write_seconds")?.count).toBe(0);
  });
});

import { defaultBuckets, metricAliases, metricTable } from "./metric-table.js";

/** One histogram: counts by bucket, not yet added up, the last for everything above the bounds. */
export interface HistogramState {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum: number;
  count: number;
  least: number;
  greatest: number;
  last: number;
}

/** One counter: its total, and its parts by label. */
export interface CounterState {
  total: number;
  readonly parts: Map<string, number>;
}

const mostForeign = 128;
const mostLabels = 48;
const counterName = /^[a-z][a-z0-9_]{0,90}_total$/;
const histogramName = /^[a-z][a-z0-9_]{0,96}$/;
const labelWord = /^[a-z][a-z0-9_]{0,63}$/;
const otherLabel = "other";

/**
 * Counters and histograms in constant memory (FW-OBS-01): fixed buckets, no lists of samples, a bound on names that a
 * connector brings and on the words of a label. It never throws: what is not kept is counted in `metrics_dropped_total`.
 */
export class MetricStore {
  readonly #counters = new Map<string, CounterState>();
  readonly #histograms = new Map<string, HistogramState>();
  readonly #nowNs: () => bigint;
  #foreign = 0;
  #lastSuccessNs: bigint | null = null;

  constructor(nowNs: () => bigint) {
    this.#nowNs = nowNs;
    // What has not happened yet is a zero that a query can find.
    for (const [name, { kind, buckets = defaultBuckets }] of Object.entries(metricTable)) {
      if (kind === "histogram") this.#histograms.set(name, newHistogram(buckets));
      else if (kind === "counter") this.#counters.set(name, { total: 0, parts: new Map() });
    }
  }

  get counters(): ReadonlyMap<string, CounterState> {
    return this.#counters;
  }

  get histograms(): ReadonlyMap<string, HistogramState> {
    return this.#histograms;
  }

  /** When the sink last stored something, ns since the Unix epoch; null before. */
  get lastSuccessNs(): bigint | null {
    return this.#lastSuccessNs;
  }

  /** Adds to a counter, and to the part that `label` names. */
  count(given: string, by = 1, label?: string): void {
    const name = metricAliases[given] ?? given;
    if (name === "sink_batches_written_total") this.#lastSuccessNs = this.#nowNs();
    const counter = this.#counters.get(name) ?? this.#adopt(name, counterName, this.#counters, () => ({ total: 0, parts: new Map() }));
    if (counter === null || !Number.isFinite(by) || by < 0) return;
    counter.total += by;
    if (label === undefined) return;
    const word = this.#word(counter, label);
    counter.parts.set(word, (counter.parts.get(word) ?? 0) + by);
  }

  /** Puts a measurement into its bucket. */
  observe(name: string, value: number): void {
    const found = this.#histograms.get(name) ?? this.#adopt(name, histogramName, this.#histograms, () => newHistogram(defaultBuckets));
    if (found === null || !Number.isFinite(value)) return;
    const place = found.bounds.findIndex((bound) => value <= bound);
    const bucket = place === -1 ? found.bounds.length : place;
    found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
    found.sum += value;
    found.count += 1;
    found.least = Math.min(found.least, value);
    found.greatest = Math.max(found.greatest, value);
    found.last = value;
  }

  #word({ parts }: CounterState, label: string): string {
    if (parts.has(label)) return label;
    if (labelWord.test(label) && parts.size < mostLabels) return label;
    this.#drop();
    return otherLabel;
  }

  /** Takes in a name that the table does not know; null when it is no name, or there are too many. */
  #adopt<State>(name: string, pattern: RegExp, into: Map<string, State>, make: () => State): State | null {
    if (!pattern.test(name) || this.#foreign >= mostForeign || metricTable[name] !== undefined) {
      this.#drop();
      return null;
    }
    this.#foreign += 1;
    const state = make();
    into.set(name, state);
    return state;
  }

  #drop(): void {
    const dropped = this.#counters.get("metrics_dropped_total");
    if (dropped !== undefined) dropped.total += 1;
  }
}

function newHistogram(bounds: readonly number[]): HistogramState {
  return {
    bounds,
    counts: new Array<number>(bounds.length + 1).fill(0),
    sum: 0,
    count: 0,
    least: Number.POSITIVE_INFINITY,
    greatest: Number.NEGATIVE_INFINITY,
    last: 0,
  };
}

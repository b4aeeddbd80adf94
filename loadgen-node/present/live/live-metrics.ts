import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { BUCKET_COUNT, lowerEdgeNs } from '../../observe/figures/latency-histogram.ts';
import {
  addTotals,
  type LiveSnapshot,
  type LiveTotals,
  NO_TOTALS,
  type WindowCounts,
} from '../../observe/live/live-snapshot.ts';
import { LATENCY_PARTS } from '../../observe/split/latency-parts.ts';
import type { LiveRunFacts, RunEndState, ToLiveThread } from './live-state.ts';

const STATES: readonly RunEndState[] = ['VALID', 'INVALID', 'INTERRUPTED', 'BROKEN'];

/**
 * Upper bucket bounds from 16 µs to 17 s (1, 1.5, 2, 3, 4, ...): edges of the histogram's own
 * buckets, so that no value is misplaced.
 */
const BOUNDS_NS: readonly number[] = Array.from(
  { length: 41 },
  (_, i) => (i % 2 === 0 ? 1 : 1.5) * 2 ** (14 + Math.floor(i / 2)),
);

/** A distribution over all runs. */
class Distribution {
  /** By bucket of a LatencyHistogram. */
  readonly #counts = new Float64Array(BUCKET_COUNT);
  #sumNs = 0;

  add(counts: Float64Array, sumNs: number): void {
    counts.forEach((count, i) => {
      this.#counts[i] = (this.#counts[i] as number) + count; // In range: the same buckets.
    });
    this.#sumNs += sumNs;
  }

  /** Number of values up to each of {@link BOUNDS_NS}, then the total. */
  get cumulative(): number[] {
    const cumulative: number[] = [];
    let below = 0;
    let bucket = 0;
    for (const boundNs of BOUNDS_NS) {
      for (; bucket < BUCKET_COUNT && lowerEdgeNs(bucket + 1) <= boundNs; bucket += 1) {
        below += this.#counts[bucket] as number;
      }
      cumulative.push(below);
    }
    for (; bucket < BUCKET_COUNT; bucket += 1) below += this.#counts[bucket] as number;
    return [...cumulative, below];
  }

  get sumS(): number {
    return this.#sumNs / 1e9;
  }
}

/** A metric value with its labels, and its name if it differs from the metric's. */
interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** A metric without labels; a missing value is absent, not 0. */
function single(value: number | null | undefined): MetricValue[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value }];
}

/**
 * A run's labels in Prometheus form: prefix `label_`, and `_` for characters that names may not
 * contain.
 */
function metricLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(labels).map(([key, value]) => [
    `label_${key.replaceAll(/[^A-Za-z0-9_]/g, '_')}`,
    value,
  ]);
  return Object.fromEntries(named);
}

/**
 * Prometheus metrics of the LoadGen node: counters over all runs of this process, and gauges of
 * current values.
 */
export class LiveMetrics {
  readonly registry: Registry = new Registry();
  readonly #latency = new Distribution();
  readonly #lag = new Distribution();
  readonly #partSumsNs = new Float64Array(LATENCY_PARTS.length);
  #splitCount = 0;
  #facts: LiveRunFacts | undefined;
  #nodes: readonly string[] = [];
  #last: LiveSnapshot | undefined;
  /** Totals of earlier runs. */
  #before: LiveTotals = NO_TOTALS;
  #runCount = 0;
  readonly #ended = new Map<RunEndState, number>(STATES.map((state) => [state, 0]));

  constructor() {
    const { registry } = this;
    collectDefaultMetrics({ register: registry });
    // Node's own metrics describe the thread that serves them, not the issuing one.
    for (const { name } of registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_')) registry.removeSingleMetric(name);
    }
    this.#add('gauge', 'info', 'Always 1: what is measured.', () => {
      if (this.#facts === undefined) return [];
      const { benchmark, scenario, mode, labels = {} } = this.#facts;
      const own = { version: packageVersion(), benchmark, scenario, mode };
      return [{ labels: { ...own, ...metricLabels(labels) }, value: 1 }];
    });
    this.#addCounters();
    this.#addGauges();
    const latencyHelp = 'Completed - scheduled, of completed samples.';
    this.#addHistogram('sample_latency', latencyHelp, this.#latency);
    const lagHelp = 'Dispatch lag of queries: issued - scheduled.';
    this.#addHistogram('dispatch_lag', lagHelp, this.#lag);
  }

  /** Applies a message about a run. */
  apply(message: ToLiveThread): void {
    switch (message.kind) {
      case 'begin':
        this.#before = this.#totals();
        this.#last = undefined;
        this.#facts = message.facts;
        this.#nodes = [];
        this.#runCount += 1;
        break;
      case 'nodes':
        this.#nodes = message.names;
        break;
      case 'snapshot':
        this.#last = message.snapshot;
        if (message.counts !== undefined) this.#addCounts(message.counts);
        break;
      case 'end':
        this.#ended.set(message.verdict.state, (this.#ended.get(message.verdict.state) ?? 0) + 1);
        break;
      case 'close':
        break;
    }
  }

  #addCounts(counts: WindowCounts): void {
    this.#latency.add(counts.latencyCounts, counts.latencySumNs);
    this.#lag.add(counts.lagCounts, counts.lagSumNs);
    this.#splitCount += counts.splitCount;
    counts.partSumsNs.forEach((sumNs, i) => {
      this.#partSumsNs[i] = (this.#partSumsNs[i] as number) + sumNs; // In range: one per part.
    });
  }

  #totals(): LiveTotals {
    return addTotals(this.#before, this.#last?.totals ?? NO_TOTALS);
  }

  #addCounters(): void {
    const add = (name: string, help: string, values: () => MetricValue[]): void =>
      this.#add('counter', `${name}_total`, help, values);
    const total = (key: keyof LiveTotals) => () => single(this.#totals()[key]);
    add('runs', 'Runs that began.', () => single(this.#runCount));
    add('runs_ended', 'Runs that ended, by their verdict.', () =>
      [...this.#ended].map(([state, value]) => {
        return { labels: { verdict: state.toLowerCase() }, value };
      }),
    );
    add('queries_issued', 'Queries that were issued.', total('issuedQueries'));
    add('samples_issued', 'Samples that were issued.', total('issuedSamples'));
    add('samples_completed', 'Samples with a result.', total('completedSamples'));
    add('samples_lost', 'Samples without a result.', total('lostSamples'));
    const splitHelp = 'Completed samples whose node reported its times.';
    add('latency_split_samples', splitHelp, () => single(this.#splitCount));
    const partHelp =
      'Where the latency of those samples went, by part; the parts sum to the latency.';
    add('latency_part_seconds', partHelp, () =>
      // The remainder may be slightly below 0 by rounding; counters must not be.
      LATENCY_PARTS.map((part, i) => {
        return { labels: { part }, value: Math.max(0, (this.#partSumsNs[i] as number) / 1e9) };
      }),
    );
  }

  #addGauges(): void {
    const add = (name: string, help: string, read: (last: LiveSnapshot) => number | null): void =>
      this.#add('gauge', name, help, () => single(this.#last && read(this.#last)));
    const outstanding = 'Samples that are issued and neither completed nor lost.';
    add('outstanding_samples', outstanding, (last) => last.outstanding);
    const target = 'Rate of the schedule; absent without a schedule.';
    add('target_queries_per_second', target, (last) => last.targetPerS);
    const bound = "Server's latency bound; absent elsewhere.";
    add('latency_bound_seconds', bound, (last) => last.bound && last.bound.latencyNs / 1e9);
    add('progress_ratio', 'Share of the phase that is done: an estimate.', (last) => last.share);
    const ofNode = 'Samples that wait for the answer of a node.';
    this.#add('gauge', 'node_outstanding_samples', ofNode, () => {
      const counts = this.#last?.nodes.outstanding;
      // Nodes with the same name share one series.
      const byName = new Map(this.#nodes.map((node, i) => [node, counts?.[i] ?? 0]));
      return [...byName].map(([node, value]) => ({ labels: { node }, value }));
    });
  }

  #addHistogram(what: string, help: string, distribution: Distribution): void {
    const name = `longhaul_loadgen_${what}_seconds`;
    this.#add('histogram', `${what}_seconds`, help, () => {
      const { cumulative, sumS } = distribution;
      const values = cumulative.map((value, i) => {
        const boundNs = BOUNDS_NS[i];
        // The bound is a whole number of ns. Division and rounding give its exact decimal in s.
        const le = boundNs === undefined ? '+Inf' : Number((boundNs / 1e9).toPrecision(12));
        return { metricName: `${name}_bucket`, labels: { le }, value };
      });
      return [
        ...values,
        { metricName: `${name}_sum`, labels: {}, value: sumS },
        { metricName: `${name}_count`, labels: {}, value: cumulative.at(-1) as number },
      ];
    });
  }

  /** prom-client (15.1) uses only a metric's name and `get()`; its types require the class. */
  #add(type: string, shortName: string, help: string, values: () => MetricValue[]): void {
    const name = `longhaul_loadgen_${shortName}`;
    const get = () => Promise.resolve({ name, help, type, values: values(), aggregator: 'sum' });
    this.registry.registerMetric({ name, get } as unknown as Metric);
  }
}

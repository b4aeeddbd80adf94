import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type Histogram,
  Registry,
} from 'prom-client';
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
import type { LiveRunFacts, RunEndState, ToLiveThread } from './live-messages.ts';

const STATES: readonly RunEndState[] = ['VALID', 'INVALID', 'INTERRUPTED', 'BROKEN'];

/** Upper bounds from 16 µs to 17 s, 1, 1.5, 2, 3, 4, ...: edges of the histogram's own buckets, so that no value is misplaced. */
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

  /** Values up to each of {@link BOUNDS_NS}, then all. */
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

/** What Prometheus reads of the LoadGen node: counters over all runs of this process, gauges of the moment. */
export class LiveMetrics {
  readonly registry: Registry = new Registry();
  readonly #latency = new Distribution();
  readonly #lag = new Distribution();
  readonly #partSumsNs = new Float64Array(LATENCY_PARTS.length);
  #splitCount = 0;
  #facts: LiveRunFacts | undefined;
  #nodes: readonly string[] = [];
  #last: LiveSnapshot | undefined;
  /** Of the runs before this one. */
  #before: LiveTotals = NO_TOTALS;
  #runCount = 0;
  readonly #ended = new Map<RunEndState, number>(STATES.map((state) => [state, 0]));

  constructor() {
    const { registry } = this;
    collectDefaultMetrics({ register: registry });
    // Those of Node are of the thread that serves the metrics, not of the one that issues.
    for (const { name } of registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_')) registry.removeSingleMetric(name);
    }
    this.#addIdentity();
    this.#addCounters();
    this.#addGauges();
    this.#addHistogram(
      'sample_latency',
      'Completed - scheduled, of completed samples.',
      this.#latency,
    );
    this.#addHistogram(
      'dispatch_lag',
      "Issued - scheduled, of queries: LoadGen's own delay.",
      this.#lag,
    );
  }

  /** Takes what happened. */
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

  #addIdentity(): void {
    this.#gauge(
      'info',
      'Always 1: what is measured.',
      ['version', 'benchmark', 'scenario', 'mode'],
      (gauge) => {
        if (this.#facts === undefined) return;
        const { benchmark, scenario, mode } = this.#facts;
        gauge.set({ version: packageVersion(), benchmark, scenario, mode }, 1);
      },
    );
  }

  #addCounters(): void {
    const add = (name: string, help: string, read: () => number): void =>
      this.#counter({ name, help }, (counter) => counter.inc(read()));
    add('runs', 'Runs that began.', () => this.#runCount);
    this.#counter(
      { name: 'runs_ended', help: 'Runs that ended, by their verdict.', labelNames: ['verdict'] },
      (counter) => {
        for (const [state, count] of this.#ended) {
          counter.inc({ verdict: state.toLowerCase() }, count);
        }
      },
    );
    add('queries_issued', 'Queries that were issued.', () => this.#totals().issuedQueries);
    add('samples_issued', 'Samples that were issued.', () => this.#totals().issuedSamples);
    add('samples_completed', 'Samples with a result.', () => this.#totals().completedSamples);
    add('samples_lost', 'Samples that got none.', () => this.#totals().lostSamples);
    add(
      'latency_split_samples',
      'Completed samples whose node told its times.',
      () => this.#splitCount,
    );
    this.#counter(
      {
        name: 'latency_part_seconds',
        help: 'Where the latency of those samples went, by part; the parts sum to the latency.',
        labelNames: ['part'],
      },
      (counter) => {
        LATENCY_PARTS.forEach((part, i) => {
          // The remainder may be a hair below 0, which a counter refuses.
          counter.inc({ part }, Math.max(0, (this.#partSumsNs[i] as number) / 1e9));
        });
      },
    );
  }

  #addGauges(): void {
    const add = (name: string, help: string, read: (last: LiveSnapshot) => number | null): void =>
      this.#gauge(name, help, [], (gauge) => {
        const value = this.#last === undefined ? null : read(this.#last);
        if (value !== null) gauge.set(value);
      });
    add(
      'outstanding_samples',
      'Samples that are issued and neither completed nor lost.',
      (last) => last.outstanding,
    );
    add(
      'target_queries_per_second',
      'What the schedule asks for; absent where there is none.',
      (last) => last.targetPerS,
    );
    add(
      'latency_bound_seconds',
      "Server's latency bound; absent elsewhere.",
      (last) => last.bound && last.bound.latencyNs / 1e9,
    );
    add('progress_ratio', 'Share of the phase that is done: an estimate.', (last) => last.share);
    this.#gauge(
      'node_outstanding_samples',
      'Samples that wait for the answer of a node.',
      ['node'],
      (gauge) => {
        this.#nodes.forEach((node, i) => {
          gauge.set({ node }, this.#last?.nodes.outstanding[i] ?? 0);
        });
      },
    );
  }

  #counter(config: CounterConfiguration<string>, read: (counter: Counter) => void): void {
    const counter = new Counter({
      ...config,
      name: `longhaul_loadgen_${config.name}_total`,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        read(counter);
      },
    });
  }

  #gauge(name: string, help: string, labelNames: string[], read: (gauge: Gauge) => void): void {
    const gauge: Gauge = new Gauge({
      name: `longhaul_loadgen_${name}`,
      help,
      labelNames,
      registers: [this.registry],
      collect: () => {
        // What has no value now is absent, not 0.
        if (labelNames.length === 0) gauge.remove();
        else gauge.reset();
        read(gauge);
      },
    });
  }

  /** prom-client (15.1) asks a metric for its name and `get()` and for nothing else; its types want the class. */
  #addHistogram(what: string, help: string, distribution: Distribution): void {
    const name = `longhaul_loadgen_${what}_seconds`;
    const metric = {
      name,
      get: () => {
        const { cumulative, sumS } = distribution;
        const values = cumulative.map((value, i) => {
          const boundNs = BOUNDS_NS[i];
          // Exact edges in ns; 1e-9 times a whole number is not round.
          const le = boundNs === undefined ? '+Inf' : Number((boundNs / 1e9).toPrecision(12));
          return { metricName: `${name}_bucket`, labels: { le }, value };
        });
        const count = cumulative.at(-1) as number;
        const all = [
          ...values,
          { metricName: `${name}_sum`, labels: {}, value: sumS },
          { metricName: `${name}_count`, labels: {}, value: count },
        ];
        return Promise.resolve({ name, help, type: 'histogram', values: all, aggregator: 'sum' });
      },
    };
    this.registry.registerMetric(metric as unknown as Histogram);
  }
}

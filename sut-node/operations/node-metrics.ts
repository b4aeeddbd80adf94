import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type Histogram,
  Registry,
} from 'prom-client';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { FAILURE_CODES } from '../../shared/wire/responses-codec.ts';
import type { LoadedModel } from '../model/model-facts.ts';
import { configurationName, providerOf } from '../server/describe/configuration-name.ts';
import type { NodeFacts } from '../server/describe/node-offer.ts';
import type { NodeStateName, NodeStatus } from '../server/describe/node-status.ts';
import type { NodeTotals } from '../server/ledger/run-ledger.ts';
import type { BucketCounts, Observations } from './observations.ts';

/** What the metrics read, at each scrape and at no other time. */
export interface MeasuredNode {
  readonly facts: NodeFacts;
  readonly status: NodeStatus;
  /** Undefined until the model is loaded. */
  model(): LoadedModel | undefined;
  totals(): NodeTotals;
  queue(): QueueState;
  streamCount(): number;
  /** Requests of the Open Inference Protocol by the gRPC status of their answer. */
  oipRequests(): ReadonlyMap<string, number>;
  /** Its streams that are open. */
  oipStreamCount(): number;
  connectionCount(): number;
  /** Calls that the gate did not serve, by the reason. */
  refusedCalls(): ReadonlyMap<string, number>;
  /** Undefined where there are none. */
  workers(): WorkerCounts | undefined;
}

/** How full the node is. */
export interface QueueState {
  /** Samples that wait for a batch. */
  readonly waitingSamples: number;
  /** Samples and payload bytes that arrived and are not answered. */
  readonly outstandingSamples: number;
  readonly outstandingBytes: number;
  /** Credit that is out: what peers may still send, and what they sent and has no answer yet. */
  readonly creditSamples: number;
  readonly creditBytes: number;
}

/** Workers that live, and how many were replaced. */
export interface WorkerCounts {
  readonly count: number;
  readonly replacedCount: number;
}

/** Gauges of prom-client with the name of a counter, of which promtool complains; each has a twin by type. */
const MISNAMED: readonly string[] = ['handles', 'requests', 'resources'].map(
  (what) => `nodejs_active_${what}_total`,
);

const STATES: readonly NodeStateName[] = [
  'NODE_STATE_LOADING',
  'NODE_STATE_WARMING_UP',
  'NODE_STATE_READY',
  'NODE_STATE_DRAINING',
  'NODE_STATE_FAILED',
];

/** The word of a state in metrics: `ready`, `warming_up`, ... */
const stateWord = (state: NodeStateName): string => state.slice('NODE_STATE_'.length).toLowerCase();

/**
 * All metrics of a node, in base units (seconds, bytes), named `longhaul_sut_*`, and those of the process
 * (`process_*`, `nodejs_*`). Numbers that the node counts in any case are read when somebody asks.
 */
export function nodeMetrics(node: MeasuredNode, observations: Observations): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  addIdentity(registry, node);
  addCounters(registry, node);
  addGauges(registry, node);
  addHistogram(registry, {
    name: 'longhaul_sut_batch_size_samples',
    help: 'Samples in one inference, without padding.',
    rows: [{ labels: {}, buckets: observations.batchSizes }],
    unit: 1,
  });
  addHistogram(registry, {
    name: 'longhaul_sut_sample_duration_seconds',
    help: 'Where answered samples spent their time in the node; the phases sum to the residence time.',
    rows: [...observations.durations].map(([phase, buckets]) => ({
      labels: { phase },
      buckets,
    })),
    unit: 1e-9,
  });
  return registry;
}

function addIdentity(registry: Registry, node: MeasuredNode): void {
  const { facts } = node;
  const labels = {
    version: packageVersion(),
    node: facts.name,
    benchmark: facts.offer.benchmark,
    model: facts.offer.model,
    provider: providerOf(facts.settings),
  };
  const info = new Gauge({
    name: 'longhaul_sut_info',
    help: 'Always 1: what this node is. sha256 and configuration are empty until the model is loaded.',
    labelNames: [...Object.keys(labels), 'sha256', 'configuration'],
    registers: [registry],
    collect: () => {
      info.reset();
      const model = node.model();
      const configuration = model === undefined ? '' : configurationName(facts, model);
      info.set({ ...labels, sha256: model?.sha256 ?? '', configuration }, 1);
    },
  });
  const state = new Gauge({
    name: 'longhaul_sut_state',
    help: '1 for the state that the node is in, 0 for the others.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      for (const name of STATES)
        state.set({ state: stateWord(name) }, name === node.status.state ? 1 : 0);
    },
  });
}

function addCounters(registry: Registry, node: MeasuredNode): void {
  const totals: readonly [name: string, help: string, read: (totals: NodeTotals) => number][] = [
    ['runs', 'Runs that opened a stream.', (all) => all.runCount],
    ['streams', 'Infer streams that were opened.', (all) => all.streamCount],
    ['queries', 'Queries of which at least one sample arrived.', (all) => all.queryCount],
    ['parts', 'Messages with samples that arrived.', (all) => all.partCount],
    ['samples_received', 'Whole samples that arrived.', (all) => all.sampleCount],
    [
      'samples_completed',
      'Samples that were answered with a response.',
      (all) => all.completedCount,
    ],
    [
      'samples_dropped',
      'Samples without an answer: their stream was gone.',
      (all) => all.droppedCount,
    ],
    ['payload_bytes', 'Payload bytes of samples that arrived.', (all) => all.payloadBytes],
    ['response_bytes', 'Payload bytes of responses.', (all) => all.responseBytes],
  ];
  for (const [name, help, read] of totals) {
    addCounter(registry, { name: `longhaul_sut_${name}_total`, help }, (counter) =>
      counter.inc(read(node.totals())),
    );
  }
  addCounter(
    registry,
    {
      name: 'longhaul_sut_samples_failed_total',
      help: 'Samples that were answered with a failure, by its reason.',
      labelNames: ['reason'],
    },
    (counter) => {
      const { failedByCode } = node.totals();
      for (const [reason, code] of Object.entries(FAILURE_CODES)) {
        counter.inc({ reason }, failedByCode[code] ?? 0);
      }
    },
  );
  addCounter(
    registry,
    {
      name: 'longhaul_sut_calls_refused_total',
      help: 'Calls that were refused or reset before they were served, by the reason.',
      labelNames: ['reason'],
    },
    (counter) => {
      for (const [reason, count] of node.refusedCalls()) counter.inc({ reason }, count);
    },
  );
  addCounter(
    registry,
    {
      name: 'longhaul_sut_oip_requests_total',
      help: 'Requests of the Open Inference Protocol, by the gRPC status that they were answered with.',
      labelNames: ['status'],
    },
    (counter) => {
      counter.inc({ status: 'ok' }, 0);
      for (const [status, count] of node.oipRequests()) counter.inc({ status }, count);
    },
  );
  addCounter(
    registry,
    { name: 'longhaul_sut_workers_replaced_total', help: 'Workers that ended and were replaced.' },
    (counter) => counter.inc(node.workers()?.replacedCount ?? 0),
  );
}

/** A counter whose value stands somewhere else. */
function addCounter(
  registry: Registry,
  config: CounterConfiguration<string>,
  read: (counter: Counter) => void,
): void {
  const counter = new Counter({
    ...config,
    registers: [registry],
    collect: () => {
      counter.reset();
      read(counter);
    },
  });
}

function addGauges(registry: Registry, node: MeasuredNode): void {
  const { settings } = node.facts;
  const gauges: readonly [name: string, help: string, read: () => number][] = [
    ['queue_samples', 'Samples that wait for a batch.', () => node.queue().waitingSamples],
    [
      'outstanding_samples',
      'Samples that arrived and are not answered.',
      () => node.queue().outstandingSamples,
    ],
    [
      'outstanding_bytes',
      'Payload bytes that arrived and whose samples are not answered.',
      () => node.queue().outstandingBytes,
    ],
    [
      'credit_samples',
      'Samples that peers may send or have outstanding.',
      () => node.queue().creditSamples,
    ],
    [
      'credit_bytes',
      'Payload bytes that peers may send or have outstanding.',
      () => node.queue().creditBytes,
    ],
    [
      'queue_limit_samples',
      'Samples at which no more credit is granted.',
      () => settings.queueSamplesMax,
    ],
    [
      'queue_limit_bytes',
      'Payload bytes at which no more credit is granted.',
      () => settings.queueBytesMax,
    ],
    ['open_streams', 'Infer streams that are open.', () => node.streamCount()],
    ['oip_open_streams', 'ModelStreamInfer streams that are open.', () => node.oipStreamCount()],
    ['open_connections', 'TCP connections that are open.', () => node.connectionCount()],
    [
      'workers',
      'Workers that live, those that are loading included.',
      () => node.workers()?.count ?? 0,
    ],
  ];
  for (const [name, help, read] of gauges) {
    const gauge: Gauge = new Gauge({
      name: `longhaul_sut_${name}`,
      help,
      registers: [registry],
      collect: () => gauge.set(read()),
    });
  }
}

/** A histogram that was counted elsewhere. */
interface CountedHistogram {
  readonly name: string;
  readonly help: string;
  readonly rows: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly buckets: BucketCounts;
  }[];
  /** What one of the counted units is in the metric's. */
  readonly unit: number;
}

/** prom-client (15.1) asks a metric for its name and `get()` and for nothing else; its types want the class. */
function addHistogram(registry: Registry, { name, help, rows, unit }: CountedHistogram): void {
  const metric = {
    name,
    get: () => {
      const values = rows.flatMap(({ labels, buckets }) => valuesOf(name, labels, buckets, unit));
      return Promise.resolve({ name, help, type: 'histogram', values, aggregator: 'sum' });
    },
  };
  registry.registerMetric(metric as unknown as Histogram);
}

interface MetricLine {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

function valuesOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  { bounds, counts, sum }: BucketCounts,
  unit: number,
): MetricLine[] {
  let count = 0;
  const lines = [...bounds, Number.POSITIVE_INFINITY].map((bound, i): MetricLine => {
    count += counts[i] as number; // One count more than bounds.
    // 1e-9 times a round number of ns is not round.
    const le = Number.isFinite(bound) ? Number((bound * unit).toPrecision(6)) : '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: sum * unit },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, type Gauge, Registry } from 'prom-client';
import { messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import type { Logger } from '../../shared/base/process/logger.ts';
import { asPlainText, hostAndPort } from '../../shared/base/text.ts';
import { FAILURE_CODES } from '../../shared/wire/responses-codec.ts';
import type { SutModel } from '../inference/batcher/sut-model.ts';
import type { LoadedModel } from '../model/model-facts.ts';
import { listenOn } from '../server/connection/server-port.ts';
import {
  configurationName,
  type NodeFacts,
  type NodeStateName,
  type NodeStatus,
  providerOf,
} from '../server/describe/node-offer.ts';
import type { NodeTotals } from '../server/ledger/run-ledger.ts';
import type { BucketCounts, Observations } from './observations.ts';

/** The values of a node that its metrics read, only at each scrape. */
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
  /** Open streams of the Open Inference Protocol. */
  oipStreamCount(): number;
  connectionCount(): number;
  /** Calls that the gate did not serve, by the reason. */
  refusedCalls(): ReadonlyMap<string, number>;
  /** Connections that the guard closed, by the reason. */
  refusedConnections(): ReadonlyMap<string, number>;
  /** Undefined where there are none. */
  workers(): SutModel['workerCounts'];
}

/** How full the node is. */
interface QueueState {
  /** Samples that wait for a batch. */
  readonly waitingSamples: number;
  /** Samples and payload bytes that arrived and are not answered. */
  readonly outstandingSamples: number;
  readonly outstandingBytes: number;
  /** Granted credit: what peers may still send, and what they sent without an answer so far. */
  readonly creditSamples: number;
  readonly creditBytes: number;
}

/**
 * Gauges of prom-client whose names end like those of counters, which promtool reports. prom-client
 * has the same numbers by type in other gauges.
 */
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

type Labels = Readonly<Record<string, string | number>>;

/** A value of a metric with its labels. */
interface MetricLine {
  /** Undefined: the metric's own name. */
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

/**
 * A metric: its name after `longhaul_sut_`, its help, and the function that reads it, which returns
 * one number or a line per set of labels.
 */
type MetricRow = readonly [
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  read: (node: MeasuredNode, observations: Observations) => number | readonly MetricLine[],
];

/** Counters that are one of the node's totals. */
const TOTALS = [
  ['runs', 'runCount', 'Runs that opened a stream.'],
  ['streams', 'streamCount', 'Infer streams that were opened.'],
  ['queries', 'queryCount', 'Queries of which at least one sample arrived.'],
  ['parts', 'partCount', 'Messages with samples that arrived.'],
  ['samples_received', 'sampleCount', 'Whole samples that arrived.'],
  ['samples_completed', 'completedCount', 'Samples that were answered with a response.'],
  ['samples_dropped', 'droppedCount', 'Samples without an answer, because their stream had ended.'],
  ['payload_bytes', 'payloadBytes', 'Payload bytes of samples that arrived.'],
  ['response_bytes', 'responseBytes', 'Payload bytes of responses.'],
] as const;

/** Gauges of how full the node is. */
const QUEUE = [
  ['queue_samples', 'waitingSamples', 'Samples that wait for a batch.'],
  ['outstanding_samples', 'outstandingSamples', 'Samples that arrived and are not answered.'],
  [
    'outstanding_bytes',
    'outstandingBytes',
    'Payload bytes that arrived and whose samples are not answered.',
  ],
  ['credit_samples', 'creditSamples', 'Samples that peers may send or have outstanding.'],
  ['credit_bytes', 'creditBytes', 'Payload bytes that peers may send or have outstanding.'],
] as const;

/** Gauges that are settings. */
const QUEUE_LIMITS = [
  ['queue_limit_samples', 'queueSamplesMax', 'Samples at which no more credit is granted.'],
  ['queue_limit_bytes', 'queueBytesMax', 'Payload bytes at which no more credit is granted.'],
] as const;

const METRICS: readonly MetricRow[] = [
  [
    'gauge',
    'info',
    'Always 1: what this node is. sha256 and configuration are empty until the model is loaded.',
    (node) => [{ labels: identityOf(node), value: 1 }],
  ],
  [
    'gauge',
    'state',
    '1 for the state of the node, 0 for all other states.',
    ({ status }) =>
      byLabel(
        'state',
        // `ready`, `warming_up`, ...
        STATES.map((name) => [
          name.slice('NODE_STATE_'.length).toLowerCase(),
          name === status.state ? 1 : 0,
        ]),
      ),
  ],
  ...TOTALS.map(
    ([name, field, help]): MetricRow => [
      'counter',
      `${name}_total`,
      help,
      (node) => node.totals()[field],
    ],
  ),
  [
    'counter',
    'samples_failed_total',
    'Samples that were answered with a failure, by its reason.',
    (node) => {
      const { failedByCode } = node.totals();
      return byLabel(
        'reason',
        Object.entries(FAILURE_CODES).map(([reason, code]) => [reason, failedByCode[code] ?? 0]),
      );
    },
  ],
  [
    'counter',
    'calls_refused_total',
    'Calls that were refused or reset before they were served, by the reason.',
    (node) => byLabel('reason', node.refusedCalls()),
  ],
  [
    'counter',
    'connections_refused_total',
    'Connections that were refused, or were closed in favour of another one or without a call, by the reason.',
    (node) => byLabel('reason', node.refusedConnections()),
  ],
  [
    'counter',
    'oip_requests_total',
    'Requests of the Open Inference Protocol, by the gRPC status that they were answered with.',
    (node) => byLabel('status', new Map([['ok', 0], ...node.oipRequests()])),
  ],
  [
    'counter',
    'workers_replaced_total',
    'Workers that ended and were replaced.',
    (node) => node.workers()?.replacedCount ?? 0,
  ],
  ...QUEUE.map(
    ([name, field, help]): MetricRow => ['gauge', name, help, (node) => node.queue()[field]],
  ),
  ...QUEUE_LIMITS.map(
    ([name, field, help]): MetricRow => ['gauge', name, help, ({ facts }) => facts.settings[field]],
  ),
  ['gauge', 'open_streams', 'Infer streams that are open.', (node) => node.streamCount()],
  [
    'gauge',
    'oip_open_streams',
    'ModelStreamInfer streams that are open.',
    (node) => node.oipStreamCount(),
  ],
  ['gauge', 'open_connections', 'TCP connections that are open.', (node) => node.connectionCount()],
  [
    'gauge',
    'workers',
    'Running workers, including those that still load the model.',
    (node) => node.workers()?.count ?? 0,
  ],
  [
    'histogram',
    'batch_size_samples',
    'Samples in one inference, without padding.',
    (_node, { batchSizes }) => histogram('batch_size_samples', {}, batchSizes, 1),
  ],
  [
    'histogram',
    'sample_duration_seconds',
    'Where answered samples spent their time in the node; the phases sum to the residence time.',
    (_node, { durations }) =>
      [...durations].flatMap(([phase, buckets]) =>
        histogram('sample_duration_seconds', { phase }, buckets, 1e-9),
      ),
  ],
];

/**
 * All metrics of a node, in base units (seconds, bytes), named `longhaul_sut_*`, and those of the
 * process (`process_*`, `nodejs_*`). Numbers that the node counts in any case are read at a scrape.
 */
export function nodeMetrics(node: MeasuredNode, observations: Observations): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  for (const [type, shortName, help, read] of METRICS) {
    const name = `longhaul_sut_${shortName}`;
    const get = () => {
      const found = read(node, observations);
      const values = typeof found === 'number' ? [{ labels: {}, value: found }] : found;
      return Promise.resolve({ name, help, type, values, aggregator: 'sum' });
    };
    // prom-client (15.1) uses only a metric's name and `get()`; its types want the class.
    registry.registerMetric({ name, get } as unknown as Gauge);
  }
  return registry;
}

function identityOf(node: MeasuredNode): Labels {
  const { facts } = node;
  const model = node.model();
  return {
    version: packageVersion(),
    node: facts.name,
    benchmark: facts.offer.benchmark,
    model: facts.offer.model,
    provider: providerOf(facts.settings),
    sha256: model?.sha256 ?? '',
    configuration: model === undefined ? '' : configurationName(facts, model),
  };
}

function byLabel(label: string, counts: Iterable<readonly [string, number]>): MetricLine[] {
  return [...counts].map(([word, value]) => ({ labels: { [label]: word }, value }));
}

/**
 * Lines of a histogram that was counted elsewhere.
 * @param unit One unit of the counted values, in the unit of the metric.
 */
function histogram(
  shortName: string,
  labels: Labels,
  { bounds, counts, sum }: BucketCounts,
  unit: number,
): MetricLine[] {
  const name = `longhaul_sut_${shortName}`;
  let count = 0;
  const lines = [...bounds, Number.POSITIVE_INFINITY].map((bound, i): MetricLine => {
    count += counts[i] as number; // One count more than bounds.
    // A round number of ns times 1e-9 has binary rounding errors.
    const le = Number.isFinite(bound) ? Number((bound * unit).toPrecision(6)) : '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: sum * unit },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Limits for clients of the port: scrapers are few, and send short requests. */
const CONNECTIONS_MAX = 32;
const REQUEST_MS_MAX = 10_000;
const HEADER_BYTES_MAX = 8_192;

const PATH = '/metrics';

/**
 * Opens the port.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
export async function startMetricsServer(
  at: { readonly host: string; readonly port: number },
  registry: Registry,
  logger: Logger,
) {
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    headersTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: REQUEST_MS_MAX / 10,
  };
  const server = createServer(
    limits,
    (request, response) => void answer(request, response, registry, logger),
  );
  server.maxConnections = CONNECTIONS_MAX;
  await listenOn(server, at, ' for metrics');
  const { address, port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    /** Where the metrics are, with the address that was bound. */
    url: `http://${hostAndPort(address, port)}${PATH}`,
    /** Ends all connections and resolves when the port is closed. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Never rejects. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  registry: Registry,
  logger: Logger,
): Promise<void> {
  const isHead = request.method === 'HEAD';
  const [path] = (request.url ?? '').split('?');
  if (path !== PATH) {
    say(response, 404, `not found; metrics are at ${PATH}\n`, isHead);
    return;
  }
  if (request.method !== 'GET' && !isHead) {
    response.setHeader('allow', 'GET, HEAD');
    say(response, 405, 'the metrics port answers only GET and HEAD requests\n', isHead);
    return;
  }
  try {
    const text = asPlainText(await registry.metrics());
    say(response, 200, text, isHead, registry.contentType);
  } catch (error) {
    logger.error({ err: error }, 'the metrics cannot be read');
    say(response, 500, `the metrics cannot be read: ${messageOf(error)}\n`, isHead);
  }
}

function say(
  response: ServerResponse,
  code: number,
  text: string,
  isHead: boolean,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
  });
  response.end(isHead ? undefined : text);
}

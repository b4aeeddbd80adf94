import type { Registry } from 'prom-client';
import { LiveMetrics } from '../../../loadgen-node/present/live/live-metrics.ts';
import { type MeasuredNode, nodeMetrics } from '../../../sut-node/operations/node-metrics.ts';
import { Observations } from '../../../sut-node/operations/observations.ts';
import { NodeStatus } from '../../../sut-node/server/describe/node-offer.ts';
import { CALL_REFUSALS } from '../../../sut-node/server/guard/call-gate.ts';
import { TEST_SETTINGS } from '../nodes/test-sut-node.ts';
import { liveSecond } from '../runs/live-snapshots.ts';

/** Labels of each series' name in a scrape; `instance` and `job`, which Prometheus gives, are not among them. */
export type ScrapedMetrics = ReadonlyMap<string, ReadonlySet<string>>;

/** What a scrape of a SUT node and one of a LoadGen node hold, from the registries of the program. */
export async function scrapedMetrics(): Promise<ScrapedMetrics> {
  const metrics = new Map<string, Set<string>>();
  for (const registry of [ofSutNode(), ofLoadGen()]) {
    addDeclared(metrics, registry);
    addScraped(metrics, await registry.metrics());
  }
  return metrics;
}

/** Of what has no series yet, such as garbage collection, only its name and labels are known. */
function addDeclared(metrics: Map<string, Set<string>>, registry: Registry): void {
  for (const one of registry.getMetricsAsArray()) {
    const { labelNames } = one as { labelNames?: readonly string[] };
    // What the program counts by itself has all its series from the start, and tells no labels here.
    if (labelNames === undefined) continue;
    for (const name of seriesOf(one.name, one.type)) metrics.set(name, new Set(labelNames));
  }
}

function addScraped(metrics: Map<string, Set<string>>, text: string): void {
  for (const line of text.split('\n')) {
    const [, name, , labels = ''] = /^([a-zA-Z_:][\w:]*)(\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const known = metrics.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    metrics.set(name, known);
  }
}

function seriesOf(name: string, type: unknown): string[] {
  // prom-client's types know no names of kinds; its values are these.
  return type === ('histogram' as unknown)
    ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`)
    : [name];
}

function ofSutNode(): Registry {
  const node: MeasuredNode = {
    facts: {
      name: 'sut-a',
      identity: 'one',
      settings: TEST_SETTINGS,
      offer: {
        benchmark: 'digits',
        model: 'small',
        encodings: [],
        responseEncoding: { form: 'raw', compression: 'identity' },
      },
    },
    status: new NodeStatus(),
    model: () => undefined,
    totals: () => ({
      ...{ runCount: 0, streamCount: 0, queryCount: 0, partCount: 0, sampleCount: 0 },
      ...{ payloadBytes: 0, completedCount: 0, failedByCode: [], droppedCount: 0 },
      responseBytes: 0,
    }),
    queue: () => ({
      ...{ waitingSamples: 0, outstandingSamples: 0, outstandingBytes: 0 },
      ...{ creditSamples: 0, creditBytes: 0 },
    }),
    oipRequests: () => new Map([['ok', 5]]),
    oipStreamCount: () => 0,
    streamCount: () => 0,
    connectionCount: () => 0,
    refusedCalls: () => new Map(CALL_REFUSALS.map((reason) => [reason, 0])),
    workers: () => undefined,
  };
  return nodeMetrics(node, new Observations());
}

function ofLoadGen(): Registry {
  const metrics = new LiveMetrics();
  const facts = {
    ...{ title: 'run_1', benchmark: 'digits', scenario: 'Server' as const },
    ...{ mode: 'PerformanceOnly' as const, output: 'results/run_1' },
  };
  metrics.apply({ kind: 'begin', facts });
  metrics.apply({ kind: 'nodes', names: ['sut-a'] });
  metrics.apply({ kind: 'snapshot', snapshot: liveSecond(1) });
  return metrics.registry;
}

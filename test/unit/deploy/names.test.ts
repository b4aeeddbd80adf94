import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, visit, type YAMLSeq } from 'yaml';
import { VERB_NAMES } from '../../../loadgen-node/cli/verbs.ts';
import { LiveMetrics } from '../../../loadgen-node/present/live/live-metrics.ts';
import { type MeasuredNode, nodeMetrics } from '../../../sut-node/operations/node-metrics.ts';
import { Observations } from '../../../sut-node/operations/observations.ts';
import { NodeStatus } from '../../../sut-node/server/describe/node-offer.ts';
import { CALL_REFUSALS } from '../../../sut-node/server/guard/call-gate.ts';
import { CONNECTION_REFUSALS } from '../../../sut-node/server/guard/connection-guard.ts';
import {
  readDashboard,
  readRules,
  repositoryFile,
  repositoryText,
  unknownFlags,
} from '../../scenes/host/repository.ts';
import { liveSecond } from '../../scenes/simulated-run/summary.ts';
import { TEST_SETTINGS } from '../../scenes/sut-node/sut-node.ts';

// Goal: a renamed flag or metric is noticed by whoever renames it. Method: every command line in
// manifests and units of deploy/ against the verbs' flags, every name in dashboard and rules
// against a scrape. `npm run test:outside deploy` starts what is in these files;
// test/unit/docs/commands.test.ts has the command lines of pages.

/**
 * Labels of each series' name in a scrape; `instance` and `job`, which Prometheus gives, are not
 * among them.
 */
type ScrapedMetrics = ReadonlyMap<string, ReadonlySet<string>>;

/** Metrics in a scrape of a SUT node and of a LoadGen node, from the program's registries. */
async function scrapedMetrics(): Promise<ScrapedMetrics> {
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
    // The program's own counters have all their series from the start, and no labels here.
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
    refusedConnections: () => new Map(CONNECTION_REFUSALS.map((reason) => [reason, 0])),
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

const FILES = readdirSync(repositoryFile('deploy'), { recursive: true, encoding: 'utf8' }).map(
  (file) => join('deploy', file),
);

/** Lists of a manifest that begin with a verb, and what patches add to one. */
function inManifest(path: string): string[][] {
  const found: string[][] = [];
  for (const document of parseAllDocuments(repositoryText(path))) {
    if (document === null) continue;
    visit(document, {
      Seq: (_key, seq: YAMLSeq) => {
        const [verb, ...words] = seq.items.map(String);
        if (verb !== undefined && VERB_NAMES.some((name) => name === verb))
          found.push([verb, ...words]);
      },
    });
  }
  return found;
}

/** The command lines of a unit or drop-in. */
function inUnit(path: string): string[][] {
  const text = repositoryText(path).replace(/\\\n\s*/g, ' ');
  return [...text.matchAll(/bin\/longhaul (\w.*)$/gm)].map(([, line = '']) =>
    line.replace(/ 2>&1.*/, '').split(/\s+/),
  );
}

describe('command lines of deploy/', () => {
  const lines = FILES.flatMap((path) => {
    const found = /\.ya?ml$/.test(path) ? inManifest(path) : [];
    const units = /\.(service|conf)$/.test(path) ? inUnit(path) : [];
    return [...found, ...units].map((words) => ({ path, line: words.join(' '), words }));
  });

  it.each(lines)('$path: $line', async ({ words }) => {
    expect(await unknownFlags(words)).toEqual([]);
  });

  it('are found in each kind of file', () => {
    const ending = (pattern: RegExp) => lines.filter(({ path }) => pattern.test(path)).length;
    expect(ending(/compose.*\.yaml$/)).toBeGreaterThan(3);
    expect(ending(/kubernetes.*\.yaml$/)).toBeGreaterThan(2);
    expect(ending(/\.(service|conf)$/)).toBeGreaterThan(3);
  });
});

describe('metrics', async () => {
  const scraped = await scrapedMetrics();
  // Prometheus adds the last two to every series.
  const labels = new Set([...[...scraped.values()].flatMap((set) => [...set]), 'job', 'instance']);
  const shown = readDashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ from: title, expr })),
  );
  const rules = [...readRules('alerts'), ...readRules('recording')];
  const expressions = [
    ...shown,
    ...rules.map(({ alert, record, expr }) => ({ from: alert ?? record, expr })),
  ];
  const recorded = rules.flatMap(({ record = [] }) => record);
  /**
   * Names of our own series in an expression; promtool reads all of it
   * (test/outside/deploy/monitoring.test.ts).
   */
  const namesIn = (expr: string): string[] =>
    expr.match(/\b(?:\w+:)?(?:longhaul|nodejs|process)_\w+(?::\w+)?/g) ?? [];

  /** Labels of matchers and of `by`, `on`, ... */
  const labelsIn = (expr: string): string[] => [
    ...[...expr.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name = '']) => name),
    ...[...expr.matchAll(/\b(?:by|without|on|ignoring|group_\w+)\s*\(([^)]*)\)/g)].flatMap(
      ([, names = '']) => names.split(',').map((name) => name.trim()),
    ),
  ];

  it.each(expressions)('$from asks for what is in a scrape', ({ expr }) => {
    const names = namesIn(expr).filter((name) => !recorded.includes(name));
    expect(names.filter((name) => !scraped.has(name))).toEqual([]);
    expect(labelsIn(expr).filter((name) => name !== '' && !labels.has(name))).toEqual([]);
  });

  it('are all seen by somebody, but for those that others hold as well', () => {
    const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
    const seen = new Set(expressions.flatMap(({ expr }) => namesIn(expr).map(base)));
    const unseen = [...scraped.keys()]
      .map(base)
      .filter((name) => /^longhaul_/.test(name) && !seen.has(name));
    expect([...new Set(unseen)].sort()).toEqual([
      'longhaul_sut_credit_bytes',
      'longhaul_sut_parts_total',
      'longhaul_sut_queries_total',
      'longhaul_sut_runs_total',
      'longhaul_sut_samples_received_total',
      'longhaul_sut_streams_total',
    ]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: each official benchmark as a person uses it with its stand-in: made, served, measured for
// speed and accuracy in every scenario that it has, and tested by TEST01 and TEST05 (TEST04,
// TEST06); no sample is lost, and the accuracy is the stand-in's own. Method: real processes.
// Prints a table; nothing is expected of speed.

interface Case {
  readonly benchmark: string;
  /**
   * Samples of the data set; absent: the standard set, which the quality target was measured on.
   */
  readonly count?: number;
  readonly scenarios: readonly string[];
  /** Queries per second of Server, and of an accuracy run there. */
  readonly serverQps: string;
  /**
   * Queries of Server where 100 would take minutes; early stopping needs 44 at the 90th percentile.
   */
  readonly serverQueries?: string;
  /**
   * Samples per second that Offline expects: more than an idle machine does, or the run is too
   * short.
   */
  readonly offlineQps: string;
  readonly sutFlags: readonly string[];
  /** Where it is not the default one: a round without compliance tests. */
  readonly round?: string;
}

const ALL = ['SingleStream', 'MultiStream', 'Server', 'Offline'];
const CASES: readonly Case[] = [
  {
    ...{ benchmark: 'bert', count: 512, scenarios: ALL, serverQps: '10', offlineQps: '30' },
    sutFlags: [],
  },
  {
    ...{ benchmark: 'retinanet', count: 64, scenarios: ALL, serverQps: '3', offlineQps: '8' },
    sutFlags: [],
  },
  {
    ...{ benchmark: 'ssd-mobilenet', scenarios: ALL, serverQps: '15', offlineQps: '80' },
    ...{ sutFlags: [], round: 'v0.5' },
  },
  {
    ...{ benchmark: 'ssd-resnet34', scenarios: ALL, serverQps: '4', offlineQps: '20' },
    ...{ sutFlags: [], round: 'v0.5' },
  },
  {
    ...{ benchmark: '3d-unet', count: 8, scenarios: ['SingleStream', 'Offline'] },
    ...{ serverQps: '1', offlineQps: '0.2', sutFlags: [] },
  },
  {
    ...{ benchmark: 'stable-diffusion-xl', count: 24, scenarios: ['Server', 'Offline'] },
    ...{ serverQps: '0.5', offlineQps: '1', sutFlags: [] },
  },
  {
    ...{ benchmark: 'dlrm-v2', count: 256, scenarios: ALL, serverQps: '10', offlineQps: '30' },
    sutFlags: [],
  },
  {
    ...{ benchmark: 'gptj', scenarios: ['SingleStream', 'Server', 'Offline'] },
    ...{ serverQps: '0.7', serverQueries: '64', offlineQps: '2', sutFlags: [] },
  },
  {
    ...{ benchmark: 'llama2-70b', scenarios: ['SingleStream', 'Server', 'Offline'] },
    ...{ serverQps: '4', offlineQps: '50', sutFlags: [] },
  },
  {
    ...{ benchmark: 'mixtral-8x7b', scenarios: ['SingleStream', 'Server', 'Offline'] },
    ...{ serverQps: '4', offlineQps: '50', sutFlags: [] },
  },
  {
    ...{ benchmark: 'gnmt', scenarios: ALL, serverQps: '8', offlineQps: '110' },
    ...{ sutFlags: [], round: 'v0.5' },
  },
];

/** Bounds that a run of 100 queries on a busy machine decides. */
const SHORT_SERVER = [
  ...['--target-latency', '5s', '--target-latency-percentile', '90'],
  ...['--generator-lag-max', '50'],
];

/** Benchmarks that count tokens, and have bounds on these. */
const TOKENS = ['llama2-70b', 'mixtral-8x7b'];
const SHORT_TOKENS = ['--ttft', '10s', '--tpot', '2s', ...SHORT_SERVER.slice(2)];

const MIN_DURATION = process.env['STANDIN_MIN_DURATION'] ?? '10s';
const cache = ['--cache-dir', testCacheFolder()];
const rows: string[][] = [];

afterAll(() => {
  const head = [
    'benchmark',
    'scenario',
    'accuracy',
    'samples/s',
    'p99 ms',
    'verdict',
    'first test',
    'second test',
  ];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  for (const row of [head, ...rows]) {
    console.log(row.map((cell, i) => cell.padEnd(widths[i] as number)).join('  '));
  }
});

describe.each(CASES)('$benchmark with its stand-in', (one) => {
  const { benchmark, scenarios } = one;
  let node: SutNodeProcess;

  beforeAll(async () => {
    const model = ['--benchmark', benchmark, '--model', 'standin', '--threads-per-worker', '2'];
    node = await SutNodeProcess.start(`sut-${benchmark}`, [...model, ...one.sutFlags, ...cache]);
  });

  afterAll(() => node?.stop());

  it.each(scenarios)('in %s, performance and accuracy', async (scenario) => {
    const output = join(suiteFolder(), 'run');
    const isPart = scenario === 'Offline' || scenario === 'Server';
    const { stdout, stderr, code } = await longhaul([
      ...['run', '--sut', node.address, '--benchmark', benchmark, '--data-dir', 'standin'],
      ...['--scenario', scenario, '--mode', 'submission', ...countFlags(one)],
      ...['--min-duration', MIN_DURATION, ...loadFlags(one, scenario)],
      ...(one.round === undefined ? [] : ['--round', one.round]),
      ...['--ready-timeout', '600s', '--output', output, ...cache],
    ]);
    // 3: MultiStream and SingleStream need more queries for early stopping than so short a run has.
    expect(isPart ? [0] : [0, 3], stdout + stderr).toContain(code);
    const logs = readRunLogs(output);
    expect(logs.errors).toEqual([]);
    const [, accuracy = '', gate] = /^Accuracy +(.*), target .*: (met|NOT met)/m.exec(stdout) ?? [];
    expect(gate, stdout).toBe('met');
    expect(readFileSync(join(output, 'accuracy.txt'), 'utf8')).toMatch(/stand-in/);
    const tests: string[] = [];
    if (isPart) for (const test of testsOf(one)) tests.push(await comply(test, output));
    const rate =
      logs.value('result_completed_samples_per_sec') ?? logs.value('result_samples_per_second');
    const p99Ns = Number(logs.value('result_99.00_percentile_latency_ns'));
    rows.push([
      ...[benchmark, scenario, accuracy, rate === undefined ? '' : Number(rate).toFixed(1)],
      ...[(p99Ns / 1e6).toFixed(1), String(logs.value('result_validity')), ...tests],
    ]);
  });

  /** Speed decides with a busy machine; the responses must be the same. */
  async function comply(test: string, run: string): Promise<string> {
    const folder = join(run, 'compliance');
    const model = modelOf(benchmark);
    const { stdout, stderr, code } = await longhaul([
      ...['compliance', test, '--run', run, '--model', model, '--output', folder, ...cache],
    ]);
    expect([0, 3], stderr).toContain(code);
    if (test === 'TEST06') expect(code, stdout + stderr).toBe(0);
    if (test === 'TEST01') {
      expect(existsSync(join(folder, test, 'verify_accuracy.txt')), stdout).toBe(true);
      const verdict = readFileSync(join(folder, test, 'verify_accuracy.txt'), 'utf8');
      expect(verdict).toContain('TEST PASS');
    }
    return code === 0 ? 'passed' : 'failed';
  }
});

/** Compliance tests of a benchmark. */
function testsOf({ benchmark, round }: Case): string[] {
  // gptj has none in v4.1.
  if (round !== undefined || benchmark === 'gptj') return [];
  if (TOKENS.includes(benchmark)) return ['TEST06'];
  return ['TEST01', benchmark === 'stable-diffusion-xl' ? 'TEST04' : 'TEST05'];
}

function countFlags({ count }: Case): string[] {
  return count === undefined ? [] : ['--data-count', String(count)];
}

function loadFlags(one: Case, scenario: string): string[] {
  const { benchmark, serverQps, serverQueries = '100', offlineQps } = one;
  if (scenario === 'Server') {
    const bounds = TOKENS.includes(benchmark) ? SHORT_TOKENS : SHORT_SERVER;
    return ['--min-query-count', serverQueries, '--target-qps', serverQps, ...bounds];
  }
  const rate = scenario === 'Offline' ? ['--target-qps', offlineQps] : [];
  return ['--min-query-count', '1', ...rate];
}

/** The model of a submission whose target is the lower one. */
function modelOf(benchmark: string): string {
  const isOne = ['retinanet', 'stable-diffusion-xl', 'mixtral-8x7b'].includes(benchmark);
  return isOne ? benchmark : `${benchmark}-99`;
}

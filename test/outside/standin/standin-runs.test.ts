import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: the stand-in for ResNet-50 as a person uses it: made, served and measured, in Server and
// Offline, in FP32 and int8, as JPEG and as pixels; accuracy is what `prepare` says, whatever the
// way, and no sample is lost. Method: real processes and the whole data set. Prints a table;
// nothing is expected of speed.
const MODELS = ['standin-int8', 'standin'] as const;
const SCENARIOS = ['Offline', 'Server'] as const;
const ENCODINGS = ['uint8', 'jpeg'] as const;

/**
 * Load that two cores carry: Server's queries per second, which an accuracy run keeps to as well,
 * and the samples per second that Offline expects.
 */
const TARGET_QPS = {
  standin: { Server: '10', Offline: '60' },
  'standin-int8': { Server: '30', Offline: '200' },
} as const;

/**
 * Server's bound: the rules' 15 ms is below what one inference takes on a core of a CPU. And as
 * many queries as early stopping needs at the 99th percentile, so that the verdict is about the
 * bound.
 */
const BOUND = {
  Server: ['--target-latency', '500ms', '--min-query-count', '700'],
  Offline: ['--min-query-count', '1'],
} as const;

/** Of each performance run. */
const MIN_DURATION = process.env['STANDIN_MIN_DURATION'] ?? '10s';

const cache = ['--cache-dir', testCacheFolder()];
const rows: string[][] = [];
/** Right answers as `prepare` told them. */
let prepared: string;

beforeAll(async () => {
  const beganAt = performance.now();
  const { stdout, stderr, code } = await longhaul(['prepare', 'resnet50-standin', ...cache]);
  process.stdout.write(stdout);
  console.log(`prepare took ${Math.round((performance.now() - beganAt) / 1000)} s`);
  expect(code, stderr).toBe(0);
  const [, counts] = /Top-1 of both on these images: [\d.]+ % +\((\d+ of \d+);/.exec(stdout) ?? [];
  prepared = counts as string;
});

afterAll(() => {
  const head = ['model', 'scenario', 'sent as', 'top-1', 'gate', 'samples/s', 'p99 ms', 'verdict'];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  for (const row of [head, ...rows]) {
    console.log(row.map((cell, i) => cell.padEnd(widths[i] as number)).join('  '));
  }
});

describe.each(MODELS)('resnet50 with --model %s', (model) => {
  let node: SutNodeProcess;

  beforeAll(async () => {
    const flags = ['--benchmark', 'resnet50', '--model', model, '--threads-per-worker', '2'];
    node = await SutNodeProcess.start('sut-standin', [...flags, ...cache]);
  });

  afterAll(() => node?.stop());

  it.each(
    SCENARIOS.flatMap((scenario) => ENCODINGS.map((encoding) => [scenario, encoding] as const)),
  )('is as accurate as measured in %s with %s', async (scenario, encoding) => {
    const output = suiteFolder();
    const { stdout, stderr, code } = await longhaul([
      ...['run', '--sut', node.address, '--benchmark', 'resnet50', '--data-dir', 'standin'],
      ...['--scenario', scenario, '--mode', 'submission', '--encoding', encoding],
      ...['--target-qps', TARGET_QPS[model][scenario], '--min-duration', MIN_DURATION],
      ...[...BOUND[scenario], '--ready-timeout', '600s', '--output', output, ...cache],
    ]);
    const logs = readRunLogs(output);
    const [, gate = ''] = /Accuracy .*: (met|NOT met)/.exec(stdout) ?? [];
    const accuracy = readFileSync(join(output, 'accuracy.txt'), 'utf8');
    const [, percent = '', good, total] =
      /accuracy=([\d.]+%), good=(\d+), total=(\d+)/.exec(accuracy) ?? [];
    const rate = logs.value(
      scenario === 'Offline' ? 'result_samples_per_second' : 'result_completed_samples_per_sec',
    );
    const p99Ns = Number(logs.value('result_99.00_percentile_latency_ns'));
    rows.push([
      ...[model, scenario, encoding, percent, gate, Number(rate).toFixed(1)],
      ...[(p99Ns / 1e6).toFixed(1), String(logs.value('result_validity'))],
    ]);
    // 3: the machine was too slow for the scenario's bound, which is no matter of this test.
    expect([0, 3], stderr).toContain(code);
    expect(`${good} of ${total}`).toBe(prepared);
    expect(logs.errors).toEqual([]);
    expect(stdout).toMatch(/stand-in/);
  });
});

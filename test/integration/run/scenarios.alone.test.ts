import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import {
  lean,
  longhaulHere,
  type Said,
  SutNodeProcess,
  spawnLonghaul,
} from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';

// Goal: every scenario works against one node and two, with both encodings, and what is printed can
// be made again from the logs. Method: nodes as real processes, runs in this one (starting a
// process takes as long as a run); a data set small enough for half a second per run.

const IMAGE_COUNT = 64;
const cache = ['--cache-dir', testCacheFolder()];
let nodes: SutNodeProcess[] = [];
let dataFolder = '';

beforeAll(async () => {
  dataFolder = await smallDataSet(IMAGE_COUNT);
  // One after the other: on a machine without the model the first one makes it for both.
  for (const name of ['sut-a', 'sut-b']) {
    const node = await SutNodeProcess.start(name, [...cache, '--batch-size-max', '8']);
    nodes.push(node);
    await node.process.says(/is ready/);
  }
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  nodes = [];
});

function runHere(args: readonly string[]): Promise<Said> {
  return longhaulHere(lean(args));
}

async function run(addresses: readonly string[], ...flags: string[]) {
  const output = suiteFolder();
  const ended = await runHere([
    ...['run', '--sut', addresses.join(','), '--benchmark', 'digits', '--output', output],
    ...['--data-dir', dataFolder, ...cache, ...flags],
  ]);
  return { ...ended, output, logs: readRunLogs(output) };
}

/**
 * Flags with which a run of about a second is VALID on a slow machine, too: what is tested here is
 * not speed, so the bound is far away (10 % of it is what LoadGen's own lateness may be).
 */
const FLAGS: Record<string, string[]> = {
  SingleStream: ['--min-duration', '500ms', '--target-qps', '4000'],
  MultiStream: [
    '--min-duration',
    '500ms',
    '--target-latency-percentile',
    '90',
    '--target-qps',
    '1000',
  ],
  Server: [
    ...['--min-duration', '500ms', '--target-latency-percentile', '90', '--target-qps', '60'],
    ...['--min-query-count', '60', '--target-latency', '10s'],
  ],
  Offline: ['--min-duration', '20ms', '--target-qps', '20000'],
};

/**
 * The result as `run` and `report` say it: all above the place of its files, which each names in
 * its own way.
 */
function screenOf(text: string): string {
  const end = text.search(/^(?:Files|Run) /m);
  expect(end).toBeGreaterThan(0);
  return text.slice(0, end).replace(/: (?:--verbose|below)$/m, '');
}

const labels = (): number[] =>
  readFileSync(join(dataFolder, 'labels.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line.split(' ')[1]));

// Nodes and encodings have nothing to do with each other: each of them is met with each scenario
// once.
describe.each([
  [1, 'raw'],
  [2, 'jpeg'],
])('against %i SUT node(s), with %s samples', (nodeCount, encoding) => {
  it.each(Object.keys(FLAGS))('%s is VALID, accuracy and performance', async (scenario) => {
    const addresses = nodes.slice(0, nodeCount).map((node) => node.address);
    const flags = ['--scenario', scenario, '--mode', 'submission', '--encoding', encoding];
    // One run of each scenario keeps its records, which are then derived again.
    if (nodeCount === 1) flags.push('--records', 'keep');
    const { code, stdout, stderr, logs, output } = await run(
      addresses,
      ...flags,
      ...(FLAGS[scenario] ?? []),
    );
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('VALID'),
    });
    expect(logs.errors).toEqual([]);
    expect(logs.value('sut_name')).toBe(
      `Network SUT: ${['sut-a', 'sut-b'].slice(0, nodeCount).join(', ')}`,
    );
    expect(logs.value('result_validity')).toBe('VALID');
    expect(logs.value('longhaul_validity')).toBe('VALID');
    expect(logs.summary).toContain('not the C++ LoadGen of an approved revision');
    expect(stdout).toContain('both ends counted');
    const isOutside = stdout.includes('is outside the Network division');
    expect(isOutside).toBe(scenario === 'SingleStream' || scenario === 'MultiStream');

    const indices = logs.accuracy.map((entry) => entry.qsl_idx).sort((a, b) => a - b);
    expect(indices).toEqual(Array.from({ length: IMAGE_COUNT }, (_, i) => i));
    const expected = labels();
    const correct = logs.accuracy.filter(
      ({ data, qsl_idx }) => decodeResponse(Buffer.from(data, 'hex')) === expected[qsl_idx],
    ).length;
    expect(stdout).toContain(`(${correct} of ${IMAGE_COUNT})`);
    expect(correct / IMAGE_COUNT).toBeGreaterThan(0.8);

    if (nodeCount > 1) return;
    const report = await longhaulHere(['report', output]);
    expect(report).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('and the split follow from the records'),
    });
    expect(screenOf(report.stdout)).toBe(screenOf(stdout));
  });
});

describe('a run', () => {
  it('of accuracy alone measures no performance', async () => {
    const flags = ['--mode', 'accuracy', '--target-qps', '300', '--report', 'html'];
    const { code, stdout, logs, output } = await run([nodes[0]?.address ?? ''], ...flags);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/^Load /m);
    expect(
      readdirSync(output)
        .filter((name) => name.startsWith('longhaul_'))
        .sort(),
    ).toEqual(['longhaul_report.html', 'longhaul_run.yaml', 'longhaul_summary.json']);
    expect(logs.accuracy).toHaveLength(IMAGE_COUNT);
  });

  it('that misses the quality target is INVALID on the screen and in the logs', async () => {
    const wrong = await smallDataSet(8);
    const list = join(wrong, 'labels.txt');
    const next = (_: string, digit: string): string => ` ${(Number(digit) + 1) % 10}\n`;
    writeFileSync(list, readFileSync(list, 'utf8').replaceAll(/ (\d)\n/g, next));
    const flags = ['--mode', 'accuracy', '--target-qps', '300', '--data-dir', wrong];
    const { code, stdout, logs } = await run([nodes[0]?.address ?? ''], ...flags);
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /The quality target is missed: top-1 0\.0000 % \(0 of 8\), target 93\.000 %/,
    );
    expect(logs.value('longhaul_validity')).toBe('INVALID');
    expect(logs.summary).toContain('The quality target is missed');
  });

  it('goes on when the reader of its output goes away', async () => {
    const output = suiteFolder();
    const process = spawnLonghaul([
      ...['run', '--sut', nodes[0]?.address ?? '', '--benchmark', 'digits', '--output', output],
      ...['--data-dir', dataFolder, ...cache, ...(FLAGS['Server'] ?? [])],
    ]);
    process.child.stderr?.destroy();
    process.child.stdout?.destroy();
    const { code } = await process.ended;
    expect(code).toBe(0);
    expect(readRunLogs(output).value('longhaul_validity')).toBe('VALID');
  });

  it('takes its settings from a file just as well', async () => {
    const output = suiteFolder();
    const config = join(output, 'longhaul.yaml');
    const sut = `sut: [${nodes[0]?.address}]`;
    const lines = [
      sut,
      'benchmark: digits',
      'targetQps: 200',
      'minDuration: 500ms',
      `output: ${output}`,
    ];
    const more = [
      `dataDir: ${dataFolder}`,
      `cacheDir: ${testCacheFolder()}`,
      'targetLatencyPercentile: 90',
      'targetLatency: 10s',
    ];
    writeFileSync(config, `run:\n${[...lines, ...more].map((line) => `  ${line}\n`).join('')}`);
    const { code } = await runHere(['run', '--config', config]);
    expect(code).toBe(0);
    expect(readRunLogs(output).value('effective_target_qps')).toBe(200);
  });

  it('dates its log files and prints the summary log where that is requested', async () => {
    const output = suiteFolder();
    const { code, stdout } = await runHere([
      ...['run', '--sut', nodes[0]?.address ?? '', '--benchmark', 'digits', '--output', output],
      ...['--data-dir', dataFolder, ...cache, ...(FLAGS['Server'] ?? [])],
      ...['--prefix-with-datetime', '--copy-summary-to-stdout'],
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('MLPerf Results Summary');
    const dated = /^mlperf_log_\d{4}-\d\d-\d\dT.*_summary\.txt$/;
    expect(readdirSync(output).filter((name) => dated.test(name))).toHaveLength(1);
  });

  it('made twice takes the lower rate and keeps both logs', async () => {
    const output = suiteFolder();
    const { code, stdout } = await runHere([
      ...['run', '--sut', nodes[0]?.address ?? '', '--benchmark', 'digits', '--output', output],
      ...['--data-dir', dataFolder, ...cache, ...(FLAGS['Server'] ?? []), '--runs', '2'],
    ]);
    expect(code).toBe(0);
    const rates = [1, 2].map((run) =>
      readRunLogs(join(output, `run_${run}`)).value('result_completed_samples_per_sec'),
    );
    const [, lowest] = /2 runs: VALID, ([\d.]+) samples/.exec(stdout) ?? [];
    expect(Number(lowest)).toBeCloseTo(Math.min(...(rates as number[])), 1);
  });

  it('of round v0.5 in mode submission is five runs, and the first has the accuracy', async () => {
    const output = suiteFolder();
    const { code, stdout } = await runHere([
      ...['run', '--sut', nodes[0]?.address ?? '', '--benchmark', 'digits', '--output', output],
      ...['--data-dir', dataFolder, ...cache, ...(FLAGS['Server'] ?? [])],
      ...['--round', 'v0.5', '--mode', 'submission', '--min-query-count', '20'],
    ]);
    expect(code, stdout).toBe(0);
    const logs = [1, 2, 3, 4, 5].map((run) => readRunLogs(join(output, `run_${run}`)));
    expect(readdirSync(output)).toHaveLength(5);
    expect(logs.map((log) => log.value('effective_test_mode'))).toEqual([
      'SubmissionRun',
      ...Array<string>(4).fill('PerformanceOnly'),
    ]);
    expect(stdout).toMatch(/^5 runs: VALID, [\d.]+ samples/m);
    expect(stdout).toContain('(over a network, which v0.5 has no division for)');
    expect(stdout).not.toContain('network division)');
  });

  it('that misses its bound is INVALID and says which rule, which value and which flag', async () => {
    const flags = ['--min-duration', '500ms', '--target-qps', '100', '--target-latency', '100ms'];
    // LoadGen's own lag on a busy machine is no part of what is missed.
    const link = await TcpShim.start(nodes[0]?.address ?? '', { oneWayMs: 100 });
    const { code, stdout, logs } = await run([link.address], ...flags, '--generator-lag-max', '99');
    link.stop();
    expect(code).toBe(3);
    expect(stdout).toMatch(/^INVALID .*: the latency bound was missed/m);
    expect(stdout).toMatch(/no --target-qps helps, .* --target-latency/);
    expect(logs.value('result_validity')).toBe('INVALID');
    expect(logs.errors).toEqual([]);
  });

  it('over a link with delay has no latency, and no Name, below the round trip', async () => {
    const link = await TcpShim.start(nodes[0]?.address ?? '', { oneWayMs: 5 });
    const { code, logs } = await run([link.address], ...(FLAGS['Server'] ?? []));
    link.stop();
    expect(code).toBe(0);
    expect(logs.value('get_sut_name_duration_ns')).toBeGreaterThanOrEqual(10e6);
    expect(logs.value('result_min_latency_ns')).toBeGreaterThanOrEqual(10e6);
  });

  it.each([
    ['lies below a file', () => join(dataFolder, 'labels.txt', 'below'), /labels\.txt/],
    ['the system refuses', () => '/proc/longhaul/below', /\/proc\/longhaul/],
  ])('cannot begin with an output folder that %s', async (_case, output, message) => {
    const { code, stderr } = await runHere([
      ...['run', '--sut', nodes[0]?.address ?? '', '--benchmark', 'digits', '--target-qps', '100'],
      ...['--data-dir', dataFolder, '--output', output(), ...cache],
    ]);
    expect(code).toBe(6);
    const told = stderr.split('\n').filter((line) => line.startsWith('longhaul: '));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(message);
  });
});

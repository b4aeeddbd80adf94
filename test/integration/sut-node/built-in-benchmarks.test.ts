import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RecordsReader } from '../../../loadgen-node/observe/records/records-reader.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { NO_DELAY, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: the benchmarks echo and delay do over the wire what their settings say, tokens included,
// and a full node is no error. Method: real nodes in this process, real runs of `longhaul run`.
// Times are bounded from below only.

const FIRST_TOKEN_NS = 20e6;
const TOKEN_NS = 5e6;
const TOKENS_MIN = 4;
const TOKENS_MAX = 9;

async function run(address: string, benchmark: string, ...flags: string[]) {
  const output = tempFolder();
  const ended = await longhaul([
    ...['run', '--sut', address, '--benchmark', benchmark, '--output', output, ...flags],
  ]);
  return { ...ended, logs: readRunLogs(output) };
}

describe('longhaul run --benchmark echo', () => {
  it('gets every sample back byte for byte, also those that travel in parts', async () => {
    const node = await startTestNode({ benchmark: 'echo', sampleBytesMax: 8e6 });
    const { code, stdout, logs } = await run(
      ...([node.address, 'echo', '--scenario', 'Offline', '--mode', 'accuracy'] as const),
      ...['--sample-bytes', '4500000', '--sample-count', '2'],
    );
    expect(stdout).toContain('echoed 100.00 % (2 of 2), target 100.00 %: met');
    expect(code).toBe(0);
    expect(logs.accuracy.map(({ data }) => data.length)).toEqual(Array(2).fill(9_000_000));
  });
});

/** @returns user.conf of a short Server run that measures tokens. */
function tokensConf(): string {
  const userConf = join(tempFolder(), 'user.conf');
  const lines = [
    ...['use_token_latencies = 1', 'ttft_latency = 20000', 'tpot_latency = 20000'],
    ...['target_qps = 100', 'min_duration = 300', 'min_query_count = 30'],
    'target_latency_percentile = 50',
  ];
  writeFileSync(userConf, lines.map((line) => `delay.Server.${line}\n`).join(''));
  return userConf;
}

describe('longhaul run --benchmark delay', () => {
  it('with tokens logs first tokens, token counts, and their times', async () => {
    const node = await startTestNode({
      benchmark: 'delay',
      delay: {
        ...NO_DELAY,
        tokens: { kind: 'uniform', min: TOKENS_MIN, max: TOKENS_MAX },
        firstTokenNs: FIRST_TOKEN_NS,
        tokenNs: TOKEN_NS,
      },
    });
    const { code, stdout, logs } = await run(
      ...([node.address, 'delay', '--scenario', 'Server', '--mode', 'submission'] as const),
      ...['--sample-bytes', '16', '--sample-count', '20', '--user-conf', tokensConf()],
    );
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(logs.errors).toEqual([]);
    expect(logs.accuracy).toHaveLength(20);
    for (const { data, token_data: first, token_count: count = 0 } of logs.accuracy) {
      expect(count).toBeGreaterThanOrEqual(TOKENS_MIN);
      expect(count).toBeLessThanOrEqual(TOKENS_MAX);
      expect(data).toHaveLength(count * 16);
      expect(first).toBe(data.slice(0, 16));
    }
    expect(logs.value('result_first_token_min_latency_ns')).toBeGreaterThanOrEqual(FIRST_TOKEN_NS);
    const shortestNs = FIRST_TOKEN_NS + (TOKENS_MIN - 1) * TOKEN_NS;
    expect(logs.value('result_min_latency_ns')).toBeGreaterThanOrEqual(shortestNs);
    expect(logs.value('result_completed_tokens_per_second')).toBeGreaterThan(0);
    expect(stdout).toMatch(/First token +p50 /);
    expect(stdout).toMatch(/Per token +p50 /);
  });

  it('with --token-times measures each gap between tokens, and the records have them', async () => {
    const node = await startTestNode({
      benchmark: 'delay',
      delay: {
        ...NO_DELAY,
        tokens: { kind: 'fixed', count: TOKENS_MAX },
        firstTokenNs: FIRST_TOKEN_NS,
        tokenNs: TOKEN_NS,
      },
    });
    const output = tempFolder();
    const { code, stdout } = await longhaul([
      ...['run', '--sut', node.address, '--benchmark', 'delay', '--output', output],
      ...['--sample-bytes', '16', '--sample-count', '20', '--user-conf', tokensConf()],
      ...['--token-times', '--records', 'keep', '--threshold', 'itl_p99 < 10s'],
    ]);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^Between +p50 .* from token to token; longest of a sample p99 /m);
    const summary = JSON.parse(readFileSync(join(output, 'longhaul_summary.json'), 'utf8'));
    const { itl_p50: p50, itl_max: max, longest_gap_p50: longest, samples } = summary.figures;
    // How long they are, a loaded machine decides as well.
    expect(p50).toBeGreaterThan(0);
    expect(longest).toBeGreaterThanOrEqual(p50 * 0.99);
    expect(max).toBeGreaterThanOrEqual(longest);
    const reader = await RecordsReader.open(join(output, 'longhaul_records.arrow'));
    const records = await reader.readAll();
    await reader.close();
    expect(records.tokenGaps?.count).toBe(samples * (TOKENS_MAX - 1));
    expect(records.longestGapNs?.reduce((a, b) => Math.max(a, b))).toBe(Math.fround(max));
    const derived = await longhaul(['report', output, '--json']);
    expect(derived).toMatchObject({ code: 0 });
  });

  it('refuses --token-times where no tokens are measured', async () => {
    const node = await startTestNode({ benchmark: 'delay' });
    const { code, stderr } = await run(node.address, 'delay', '--token-times', '--target-qps', '5');
    expect(stderr).toContain('--token-times needs a run that measures tokens');
    expect(code).not.toBe(0);
  });

  it('puts a query through a queue that is far smaller: full means no credit, not an error', async () => {
    const node = await startTestNode({
      benchmark: 'delay',
      queueSamplesMax: 4,
      queueBytesMax: 64 * 1024,
      delay: { ...NO_DELAY, model: { kind: 'fixed', ns: 500_000 }, concurrency: 2 },
    });
    const { code, stdout, logs } = await run(
      ...([node.address, 'delay', '--scenario', 'Offline', '--target-qps', '1'] as const),
      ...['--min-duration', '0s', '--min-query-count', '300', '--sample-bytes', '1000'],
    );
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(logs.errors).toEqual([]);
    expect(stdout).toContain('both ends counted 300 samples and 300000 payload bytes');
    // Two servers, 150 services each, one behind the other.
    expect(logs.value('result_max_latency_ns')).toBeGreaterThanOrEqual(150 * 500_000);
  });
});

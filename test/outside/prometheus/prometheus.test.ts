import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { PrometheusProcess, whyNoPrometheus } from './prometheus-process.ts';

// Goal: a real Prometheus takes the metrics of a node and counts what a run did. Method: both as
// processes on loopback, by `npm run test:outside prometheus`.

const why = whyNoPrometheus();
const SAMPLES = 'longhaul_sut_samples_completed_total';
const NO_COMPLAINT = { error: undefined, status: 0, stderr: '' };
const POLL = { timeout: 30_000, interval: 200 };

describe.skipIf(why !== undefined)(`Prometheus${why === undefined ? '' : ` (${why})`}`, () => {
  const folder = suiteFolder();
  let sut: SutNodeProcess;
  let prometheus: PrometheusProcess;
  let metricsUrl = '';

  beforeAll(async () => {
    const cache = ['--cache-dir', testCacheFolder()];
    sut = await SutNodeProcess.start('sut-a', ['--metrics-listen', '127.0.0.1:0', ...cache]);
    await sut.process.says(/is ready/);
    [metricsUrl = ''] = /http:\S+\/metrics/.exec(sut.process.stderr) ?? [];
    prometheus = await PrometheusProcess.start(folder, new URL(metricsUrl).host);
  });

  afterAll(async () => {
    await prometheus?.stop();
    await sut?.stop();
  });

  it('scrapes the node', async () => {
    await expect.poll(() => prometheus.value('up'), POLL).toBe(1);
    const ready = 'longhaul_sut_state{state="ready"}';
    await expect.poll(() => prometheus.value(ready), POLL).toBe(1);
    expect(await prometheus.value('longhaul_sut_info{benchmark="digits",provider="cpu"}')).toBe(1);
  });

  it('counts what a run did, as the run itself does', async () => {
    const output = join(folder, 'run');
    const load = ['--scenario', 'Server', '--target-qps', '100', '--min-duration', '3s'];
    const target = ['--sut', sut.address, '--benchmark', 'digits', '--output', output];
    const { stdout } = await longhaul(['run', ...target, ...load]);
    const [, samples] = /both ends counted (\d+) samples/.exec(stdout) ?? [];
    const count = Number(samples);
    expect(count).toBeGreaterThan(100);
    await expect.poll(() => prometheus.value(SAMPLES), POLL).toBe(count);
    const sums = await Promise.all(
      [
        'longhaul_sut_queries_total',
        'longhaul_sut_samples_received_total',
        'longhaul_sut_batch_size_samples_sum',
        'longhaul_sut_sample_duration_seconds_count{phase="compute"}',
        'sum(longhaul_sut_samples_failed_total)',
        'longhaul_sut_outstanding_samples',
        'longhaul_sut_open_streams',
      ].map((expression) => prometheus.value(expression)),
    );
    expect(sums).toEqual([count, count, count, count, 0, 0, 0]);
    const p99 = await prometheus.value(
      `histogram_quantile(0.99, longhaul_sut_sample_duration_seconds_bucket{phase="compute"})`,
    );
    expect(p99).toBeGreaterThan(0);
  });

  it('has no complaint of promtool about the metrics', async () => {
    expect(promtool(await (await fetch(metricsUrl)).text())).toEqual(NO_COMPLAINT);
  });

  it('has none about the metrics of a LoadGen node either, which show the run', async () => {
    const load = ['--scenario', 'Server', '--target-qps', '100', '--min-duration', '5s'];
    const target = [
      '--sut',
      sut.address,
      '--benchmark',
      'digits',
      '--output',
      join(folder, 'seen'),
    ];
    const run = spawnLonghaul(['run', ...target, ...load, '--metrics-listen', '127.0.0.1:0']);
    await run.says(/metrics at (http:\S+)/);
    const [, url = ''] = /metrics at (http:\S+)/.exec(run.stderr) ?? [];
    const read = async (): Promise<string> => (await fetch(url)).text();
    await expect.poll(read, POLL).toMatch(/^longhaul_loadgen_samples_completed_total [1-9]/m);
    const text = await read();
    expect(text).toMatch(/^longhaul_loadgen_node_outstanding_samples\{node="sut-a"\} \d+$/m);
    expect(text).toMatch(/^longhaul_loadgen_sample_latency_seconds_count [1-9]/m);
    expect(promtool(text)).toEqual(NO_COMPLAINT);
    await run.ended;
  });
});

function promtool(text: string): {
  error: Error | undefined;
  status: number | null;
  stderr: string;
} {
  const { error, status, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  return { error, status, stderr };
}

import { afterAll, describe, expect, it } from 'vitest';
import { tempFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { type ServiceLaw, theoreticalPeak } from '../../scenes/simulated-run/queue.ts';

// Goal: real searches over gRPC come to what theory says of the SUT's queue, and repeated searches
// to one another. Method: delay SUTs with one server (PEAK_SEEDS, 10), and the stand-in ResNet-50
// (PEAK_STANDIN, 3 searches). Their service takes a little longer than its setting: it is measured
// first, and theory is told what was measured. On a machine that others use a search may find
// LoadGen to be the limit: that is printed, and not compared with theory.

const SEEDS = Number(process.env['PEAK_SEEDS'] ?? 10);
const STANDIN_SEARCHES = Number(process.env['PEAK_STANDIN'] ?? 3);
const SEARCH_TIME = process.env['PEAK_SEARCH_TIME'] ?? '600s';
const MIN_DURATION = process.env['PEAK_MIN_DURATION'] ?? '600s';

const QUEUES: [ServiceLaw, string, number][] = [
  ['M/D/1', 'fixed', 50],
  ['M/M/1', 'exponential', 100],
];
const SERVICE = '5ms';

interface FoundPeak {
  readonly value: number | null;
  readonly estimate: number | null;
  readonly interval: { readonly low: number; readonly high: number | null } | null;
  readonly limit: string;
  readonly limitText: string;
}

const rows: string[] = [];

afterAll(() => {
  const head = 'SUT seed: found; theory (measured service, setting); error; interval; limit; time';
  process.stdout.write(`${head}\n${rows.join('\n')}\n`);
});

async function search(address: string, flags: readonly string[]): Promise<FoundPeak> {
  const { stdout, stderr } = await longhaul([
    ...['find-peak', '--sut', address, '--json', '--output', tempFolder()],
    ...['--search-time', SEARCH_TIME, '--min-duration', MIN_DURATION, '--precision', '1'],
    ...flags,
  ]);
  if (!stdout.startsWith('{')) throw new Error(stderr);
  return JSON.parse(stdout) as FoundPeak;
}

/** Time of the one server for one query, in s, from what it completes when it never rests. */
async function measuredService(address: string): Promise<number> {
  const { stdout } = await longhaul([
    ...['find-peak', '--sut', address, '--benchmark', 'delay', '--sample-bytes', '16', '--json'],
    ...['--scenario', 'offline', '--min-duration', '20s', '--output', tempFolder()],
  ]);
  const { metric } = JSON.parse(stdout) as { metric: { value: number } };
  return 1 / metric.value;
}

describe.each(QUEUES)('%s', (law, model, boundMs) => {
  it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('seed %i', async (seed) => {
    const seeded = model === 'fixed' ? [] : ['--delay-seed', String(seed)];
    const node = await SutNodeProcess.start('sut-a', [
      ...['--benchmark', 'delay', '--delay-model', `${model}:${SERVICE}`],
      ...['--delay-concurrency', '1', ...seeded],
    ]);
    try {
      const service = await measuredService(node.address);
      const limit = theoreticalPeak(law, service, boundMs / 1e3, 0.01);
      const bySetting = theoreticalPeak(law, 5e-3, boundMs / 1e3, 0.01);
      const begin = performance.now();
      const found = await search(node.address, [
        ...['--benchmark', 'delay', '--sample-bytes', '16', '--scenario', 'server'],
        ...['--latency', `${boundMs}ms`, '--percentile', '99'],
      ]);
      const error = (found.value ?? 0) / limit - 1;
      const { low = 0, high = null } = found.interval ?? {};
      rows.push(
        `${law} ${seed}: ${found.value?.toFixed(1) ?? 'none'}/s; ${limit.toFixed(1)} (${(service * 1e3).toFixed(3)} ms), ` +
          `${bySetting.toFixed(1)} (${SERVICE}); ${(error * 100).toFixed(2)} %; ${low.toFixed(1)} - ${high?.toFixed(1) ?? ''}; ` +
          `${found.limit}; ${((performance.now() - begin) / 1e3).toFixed(0)} s`,
      );
      if (found.limit === 'sut') {
        const half = ((high ?? Infinity) - low) / 2 / limit;
        expect(Math.abs(error)).toBeLessThan(Math.max(0.03, half));
      } else {
        expect(found.limitText).not.toBe('');
      }
    } finally {
      await node.stop();
    }
  });
});

it('finds the same peak of the stand-in ResNet-50 again', async () => {
  const cache = ['--cache-dir', testCacheFolder()];
  const node = await SutNodeProcess.start('sut-a', [
    ...['--benchmark', 'resnet50', '--model', 'standin-int8', ...cache],
  ]);
  const values: number[] = [];
  try {
    for (let i = 0; i < STANDIN_SEARCHES; i += 1) {
      const begin = performance.now();
      const found = await search(node.address, [
        ...['--benchmark', 'resnet50', '--data-dir', 'standin', ...cache],
        ...['--scenario', 'server', '--latency', '500ms', '--percentile', '99'],
      ]);
      if (found.value !== null) values.push(found.value);
      rows.push(
        `resnet50 ${i + 1}: ${found.value?.toFixed(2) ?? 'none'}/s; interval ${found.interval?.low.toFixed(2)} - ` +
          `${found.interval?.high?.toFixed(2)}; ${found.limit}; ${((performance.now() - begin) / 1e3).toFixed(0)} s`,
      );
    }
  } finally {
    await node.stop();
  }
  expect(values.length).toBeGreaterThan(0);
  const spread = Math.max(...values) / Math.min(...values) - 1;
  rows.push(`resnet50: the searches are within ${(spread * 100).toFixed(1)} % of one another`);
});

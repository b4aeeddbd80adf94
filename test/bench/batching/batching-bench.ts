import { type NodeOptions, startBenchNode } from '../processes.ts';
import { head, row } from '../report.ts';
import { findServerPeak } from './server-peak.ts';

/*
 * Goal: what the batcher is worth in the Server scenario: the highest rate under a bound of the
 * 99th percentile, for several ways to batch. Method: one SUT node per way, runs of LoadGen at
 * rates that close in on the bound. Short runs: a few percent of what is shown is chance.
 */

export interface BatchingBenchOptions extends NodeOptions {
  readonly benchmark: string;
  /** Word for `--model`, undefined where the benchmark needs none; and for `--data-dir`. */
  readonly model: string | undefined;
  readonly dataDir: string | undefined;
  readonly threads: number;
  readonly boundMs: number;
  readonly firstQps: number;
  readonly seconds: number;
}

/** Largest batch, and longest wait of a sample for a fuller one, in µs. */
const WAYS: readonly (readonly [number, number])[] = [
  [1, 0],
  [2, 0],
  [4, 0],
  [8, 0],
  [16, 0],
  [8, 5_000],
  [8, 20_000],
];

/** Prints one table, as Markdown. */
export async function benchBatching(options: BatchingBenchOptions): Promise<void> {
  head(
    0,
    'largest batch',
    'delay µs',
    `queries/s under ${options.boundMs} ms`,
    'p99 ms',
    'of batch 1',
  );
  let alone: number | undefined;
  for (const [batch, delayUs] of WAYS) {
    const peak = await peakOf(options, batch, delayUs);
    alone ??= peak.qps;
    row(batch, delayUs, peak.qps.toFixed(0), peak.p99Ms.toFixed(1), (peak.qps / alone).toFixed(2));
  }
}

async function peakOf(options: BatchingBenchOptions, batch: number, delayUs: number) {
  const { benchmark, model, dataDir, threads } = options;
  const args = ['--benchmark', benchmark];
  if (model !== undefined) args.push('--model', model);
  args.push('--threads-per-worker', String(threads), '--batch-size-max', String(batch));
  args.push('--batch-delay-us-max', String(delayUs));
  const server = await startBenchNode(options, args);
  try {
    const data = dataDir === undefined ? [] : ['--data-dir', dataDir];
    return await findServerPeak({
      address: server.address,
      runArgs: ['--benchmark', benchmark, ...data],
      ...{ boundMs: options.boundMs, firstQps: options.firstQps, seconds: options.seconds },
    });
  } finally {
    await server.stop();
  }
}

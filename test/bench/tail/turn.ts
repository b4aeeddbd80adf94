import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentile, samplesOf } from '../wire/measured.ts';
import type { Contender } from './contenders.ts';
import {
  dueTimesNs,
  LOAD_FILES,
  type OpenLoad,
  type QueryTimes,
  type TailJob,
  writeNumbers,
} from './open-load.ts';
import { type BusyCores, type CpuWatch, runWatched } from './watched-process.ts';

/** The percentiles of a latency that are shown. */
export const PERCENTILES = { p50Us: 0.5, p90Us: 0.9, p99Us: 0.99, p999Us: 0.999 } as const;

/** Figures of one contender in one round. */
export interface Turn extends Readonly<Record<keyof typeof PERCENTILES, number>>, BusyCores {
  readonly queries: number;
  /** Issued - scheduled. */
  readonly lagP50Us: number;
  readonly lagP99Us: number;
}

/** How long a load lasts. */
export interface LoadTime {
  readonly seconds: number;
  /** Left out at the begin. */
  readonly skipS: number;
}

/** Both processes are new: what V8 does to one by chance it does for all of its life. */
export async function runTurn(
  contender: Contender,
  load: OpenLoad,
  { seconds, skipS }: LoadTime,
): Promise<Turn> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-tail-'));
  const server = await contender.startServer();
  try {
    const sampleCount = samplesOf(load.sizeBytes);
    const job: TailJob = { ...load, address: server.address, sampleCount, seconds, folder };
    writeNumbers(join(folder, LOAD_FILES.due), dueTimesNs(load, seconds));
    const command = contender.clientCommand(job);
    const watched = { serverPid: server.pid, seconds };
    const watch = await runWatched(command, watched, contender.goodCodes);
    return figuresOf(await contender.readTimes(job), watch, { seconds, skipS });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function figuresOf(times: QueryTimes, watch: CpuWatch, { seconds, skipS }: LoadTime): Turn {
  const { beginMs, scheduledNs, issuedNs, completedNs } = times;
  const first = scheduledNs.findIndex((atNs) => atNs >= skipS * 1e9);
  if (first < 0) throw new Error(`no query is due after the first ${skipS} s`);
  const since = (endNs: Float64Array): Float64Array =>
    endNs
      .map((atNs, i) => atNs - (scheduledNs[i] as number))
      .subarray(first)
      .toSorted();
  const [latencies, lags] = [since(completedNs), since(issuedNs)];
  if (latencies.some(Number.isNaN)) throw new Error('samples were lost');
  const us = (sorted: Float64Array, fraction: number): number => percentile(sorted, fraction) / 1e3;
  const { p50Us, p90Us, p99Us, p999Us } = PERCENTILES;
  return {
    queries: latencies.length,
    p50Us: us(latencies, p50Us),
    p90Us: us(latencies, p90Us),
    p99Us: us(latencies, p99Us),
    p999Us: us(latencies, p999Us),
    lagP50Us: us(lags, 0.5),
    lagP99Us: us(lags, 0.99),
    ...watch.coresBetween(beginMs + skipS * 1e3, beginMs + seconds * 1e3),
  };
}

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

/** A search for the highest rate of the Server scenario within the latency bound. */
export interface PeakSearch {
  readonly address: string;
  /** Arguments of `longhaul run` that say what is measured. */
  readonly runArgs: readonly string[];
  readonly boundMs: number;
  /** Rate that the search begins with, in queries per second. */
  readonly firstQps: number;
  readonly seconds: number;
}

/** The highest rate that was seen to keep the bound, and its 99th percentile. */
export interface Peak {
  readonly qps: number;
  readonly p99Ms: number;
}

/** Each step up; halvings (of the logarithm) between what held and what did not. */
const STEP = 1.5;
const HALVINGS = 4;
const STEPS_MAX = 24;

/**
 * `longhaul run` ends with 0 when VALID, 3 when INVALID: a run of seconds is too short for
 * LoadGen's statistics.
 */
const INVALID = 3;

const LATENCY = /^99\.00 percentile latency \(ns\) *: (\d+)$/m;

const execute = promisify(execFile);

/** Steps up (or down) until the bound is crossed, then halves what is between. One run per rate. */
export async function findServerPeak(search: PeakSearch): Promise<Peak> {
  let held: Peak | undefined;
  let brokenQps: number | undefined;
  let qps = search.firstQps;
  let steps = 0;
  while (held === undefined || brokenQps === undefined) {
    steps += 1;
    if (steps > STEPS_MAX) throw new Error(`no rate crosses ${search.boundMs} ms near ${qps}/s`);
    const p99Ms = await p99OfRun(search, qps);
    if (p99Ms <= search.boundMs) {
      held = { qps, p99Ms };
      qps *= STEP;
    } else {
      brokenQps = qps;
      qps /= STEP;
    }
  }
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle: number = Math.sqrt(held.qps * brokenQps);
    const p99Ms = await p99OfRun(search, middle);
    if (p99Ms <= search.boundMs) held = { qps: middle, p99Ms };
    else brokenQps = middle;
  }
  return held;
}

async function p99OfRun(search: PeakSearch, qps: number): Promise<number> {
  const output = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
  const args = ['run', '--sut', search.address, '--scenario', 'Server', '--output', output];
  args.push('--target-qps', qps.toFixed(3), '--target-latency', `${search.boundMs}ms`);
  args.push('--min-duration', `${search.seconds}s`, '--min-query-count', '1');
  // Far above the bound nobody waits for the rest.
  args.push('--max-duration', `${2 * search.seconds}s`, ...search.runArgs);
  try {
    await execute(process.execPath, [main, ...args]).catch((error: { code?: number }) => {
      if (error.code !== INVALID) throw error;
    });
    const summary = readFileSync(join(output, 'mlperf_log_summary.txt'), 'utf8');
    const [, ns] = LATENCY.exec(summary) ?? [];
    if (ns === undefined) throw new Error(`no 99th percentile in the summary:\n${summary}`);
    return Number(ns) / 1e6;
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

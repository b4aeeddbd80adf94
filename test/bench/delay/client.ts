import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueClock } from '../../../loadgen-node/loadgen/engine/issue-clock.ts';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { PerformanceOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { defaultTestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import { nullQdl, nullStore, requireEqualLedgers } from '../null-path.ts';
import type { DelayJob, DelayMeasured } from './delay-bench.ts';
import { MeteredSut } from './metered-sut.ts';

// Goal: how late LoadGen issues while the QDL sends and receives, in a fresh process. Started by
// delay-bench.ts with the job as its argument; prints one line of JSON.

const SAMPLE_COUNT = 64;

const WARM_UP_SECONDS = 2;

const job = JSON.parse(process.argv[2] as string) as DelayJob;
const store = nullStore(job.sizeBytes, SAMPLE_COUNT);
const outdir = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));

/** One run. @returns It, and the cores that the process kept busy meanwhile. */
async function measure(seconds: number): Promise<[PerformanceOutcome, number]> {
  const qdl = await nullQdl(job.address, store);
  await qdl.connect();
  const sut = new MeteredSut(qdl);
  const { performance: phase } = await runTest({
    sut,
    qsl: store,
    settings: {
      ...defaultTestSettings(),
      scenario: 'Server',
      serverTargetQps: job.qps,
      minDurationMs: seconds * 1e3,
      minQueryCount: 1,
    },
    clock: issueClock('sleep'),
    log: { outdir },
    stallTimeoutNs: 10e9,
    drainTimeoutNs: 1e9,
  });
  requireEqualLedgers(qdl);
  if (phase === null || phase.counts.lostSamples > 0) throw new Error('the run broke');
  return [phase, sut.cores];
}

try {
  // V8 compiles what is used often: with the first run both ends are as they stay.
  await measure(WARM_UP_SECONDS);
  const [phase, cores] = await measure(job.seconds);
  const { percentiles, maxNs } = phase.dispatchLag;
  const at = (fraction: number): number =>
    (percentiles.find(({ percentile }) => percentile === fraction)?.valueNs ?? Number.NaN) / 1e3;
  const measured: DelayMeasured = {
    queries: phase.counts.issuedQueries,
    cores,
    p50Us: at(0.5),
    p99Us: at(0.99),
    p999Us: at(0.999),
    maxUs: maxNs / 1e3,
  };
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
} finally {
  rmSync(outdir, { recursive: true, force: true });
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monotonicClock } from '../../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import { defaultTestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { SampleStore } from '../../../loadgen-node/samples/qsl/sample-store.ts';
import type { QueryDispatchLibrary } from '../../../qdl/index.ts';
import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import { nullQdl, nullStore, requireEqualLedgers } from '../null-path.ts';
import { standinQdl, standinStore } from '../sut/standin-path.ts';
import { ClosedLoop } from '../wire/closed-loop.ts';
import { samplesOf } from '../wire/measured.ts';
import type { MemoryJob } from './memory-bench.ts';
import { type RssPoint, RssWatch } from './rss-watch.ts';

// Goal: the memory of both ends while queries go through, in a fresh process. Started by
// memory-bench.ts with the job as its argument; prints one line of JSON.

/** The job's own count ends a run, not the time. */
const LONGEST_NS = 3600e9;

const job = JSON.parse(process.argv[2] as string) as MemoryJob;
const { store, qdl } = await openPath();
await qdl.connect();
const points = job.scenario === 'Offline' ? await runOffline() : await runClosedLoop();
requireEqualLedgers(qdl);
process.stdout.write(`${JSON.stringify(points)}\n`, () => process.exit());

async function openPath(): Promise<{ store: SampleStore; qdl: QueryDispatchLibrary }> {
  const { address, model, sampleBytes } = job;
  if (model === 'null') {
    const store = nullStore(sampleBytes, samplesOf(sampleBytes));
    return { store, qdl: await nullQdl(address, store) };
  }
  const benchmark = 'resnet50';
  const store = await standinStore({
    ...{ benchmark, encoding: 'uint8', sampleCount: samplesOf(sampleBytes) },
    cacheFolder: defaultCacheFolder(),
  });
  return { store, qdl: await standinQdl(address, benchmark, store) };
}

/** As many queries of one sample as the job says, 16 at a time. */
async function runClosedLoop(): Promise<readonly RssPoint[]> {
  const sampleCount = store.performanceSampleCount;
  await store.loadSamplesToRam(Uint32Array.from({ length: sampleCount }, (_, i) => i));
  await qdl.name();
  const loop = new ClosedLoop(qdl, {
    outstanding: 16,
    sampleCount,
    warmUpNs: 0,
    measuredNs: LONGEST_NS,
    queriesMax: job.sampleCount,
    serverPid: job.serverPid,
  });
  await qdl.start(loop);
  const watch = new RssWatch(job.serverPid, () => loop.completedCount);
  await loop.run();
  const seen = watch.stop();
  await qdl.stop();
  return seen;
}

/** The whole engine with one query of all samples. */
async function runOffline(): Promise<readonly RssPoint[]> {
  const outdir = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  let completed = 0;
  const watch = new RssWatch(job.serverPid, () => completed);
  try {
    const { performance: phase } = await runTest({
      sut: qdl,
      qsl: store,
      settings: {
        ...defaultTestSettings(),
        scenario: 'Offline',
        offlineExpectedQps: 1,
        minDurationMs: 0,
        minQueryCount: job.sampleCount,
      },
      clock: monotonicClock,
      log: { outdir },
      stallTimeoutNs: 60e9,
      drainTimeoutNs: 1e9,
      observer: {
        onProgress: ({ completedSamples }) => {
          completed = completedSamples;
        },
      },
    });
    if (phase === null || phase.counts.lostSamples > 0) {
      throw new Error(phase?.failures[0]?.texts[0]?.text ?? phase?.faultText ?? 'the run broke');
    }
    completed = phase.counts.completedSamples;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
  return watch.stop();
}

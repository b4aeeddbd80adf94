import { statSync } from 'node:fs';
import { join } from 'node:path';
import { monotonicClock } from '../../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { defaultTestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import { RecordsKeeper } from '../../../loadgen-node/observe/records/records-keeper.ts';
import { deriveRun } from '../../../loadgen-node/observe/summary/derive-run.ts';
import type {
  Query,
  ResponseSink,
  ServiceTimes,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import { MemoryQsl } from '../../scenes/simulated-run/memory-qsl.ts';
import type { RecordsJob, RecordsResult } from './records-job.ts';

const NOTHING = new Uint8Array(0);

/** Answers inside the call and tells times, as a SUT node does. */
class TellingSut implements SystemUnderTest {
  #sink: ResponseSink | null = null;
  readonly #times: ServiceTimes = {
    receiveNs: 10_000,
    queueNs: 20_000,
    batchWaitNs: 30_000,
    preprocessNs: 100_000,
    computeNs: 1_000_000,
    postprocessNs: 10_000,
    sendNs: 15_000,
  };

  async name(): Promise<string> {
    return 'Network SUT that reports times';
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
  }

  issueQuery({ firstResponseId }: Query): void {
    const sink = this.#sink as ResponseSink;
    const atNs = sink.nowNs();
    sink.handedOver(firstResponseId, atNs);
    sink.served(firstResponseId, firstResponseId & 1, this.#times, 0);
    sink.complete(firstResponseId, NOTHING, 0, atNs);
  }

  flushQueries(): void {
    // Holds nothing back.
  }

  async stop(): Promise<void> {
    this.#sink = null;
  }
}

/** A Server run as fast as the engine goes, with its records. */
async function keep(folder: string, count: number): Promise<RecordsResult> {
  const keeper = await RecordsKeeper.open(join(folder, RUN_FILES.records), () => ({
    longhaul: 'bench',
    runId: 'bench',
    startedAt: new Date().toISOString(),
    benchmark: 'null',
    scenario: 'Server',
    nodes: ['sut-a', 'sut-b'],
  }));
  const seen = { rssBytes: 0, writeS: 0 };
  const { performance: phase } = await runTest({
    sut: new TellingSut(),
    qsl: new MemoryQsl(1024),
    // All arrivals fall into the first moments: each query is late and goes out at once.
    settings: {
      ...defaultTestSettings(),
      scenario: 'Server',
      minDurationMs: 0,
      minQueryCount: count,
      serverTargetQps: 1e8,
    },
    clock: monotonicClock,
    log: { outdir: folder },
    stallTimeoutNs: 60e9,
    drainTimeoutNs: 1e9,
    observer: {
      keepRecords: async (set) => {
        seen.rssBytes = process.memoryUsage.rss();
        const beginMs = performance.now();
        await keeper.keep(set);
        seen.writeS = (performance.now() - beginMs) / 1e3;
      },
    },
  });
  if (phase === null || phase.counts.completedSamples < count) throw new Error('the run broke');
  await keeper.abandon();
  return {
    seconds: seen.writeS,
    rssBeginBytes: seen.rssBytes,
    rssMaxBytes: process.resourceUsage().maxRSS * 1024,
    fileBytes: statSync(join(folder, RUN_FILES.records)).size,
    issueS: phase.durationNs / 1e9,
  };
}

/** The work of `longhaul report`. */
async function report(folder: string): Promise<RecordsResult> {
  const rssBeginBytes = process.memoryUsage.rss();
  const beginMs = performance.now();
  const { derived } = await deriveRun(folder);
  if (derived === null || derived.cut !== null) throw new Error('the records are not whole');
  return {
    seconds: (performance.now() - beginMs) / 1e3,
    rssBeginBytes,
    rssMaxBytes: process.resourceUsage().maxRSS * 1024,
    fileBytes: statSync(join(folder, RUN_FILES.records)).size,
    issueS: 0,
  };
}

// Goal: one measurement in a fresh process. Started by records-bench.ts with the job as its
// argument.
const job = JSON.parse(process.argv[2] as string) as RecordsJob;
const result = job.kind === 'keep' ? await keep(job.folder, job.count) : await report(job.folder);
process.send?.(result, () => process.disconnect());

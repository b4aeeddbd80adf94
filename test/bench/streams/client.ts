import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueClock } from '../../../loadgen-node/loadgen/engine/issue-clock.ts';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { RecordedColumns } from '../../../loadgen-node/loadgen/recorder/recording.ts';
import { defaultTestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import { distributionOf } from '../../../loadgen-node/observe/figures/latency-histogram.ts';
import type { ResponseSink, SystemUnderTest } from '../../../shared/domain/system-under-test.ts';
import { RssWatch } from '../memory/rss-watch.ts';
import { nullQdl, nullStore, requireEqualLedgers } from '../null-path.ts';
import { cpuUsOf } from '../wire/measured.ts';
import type { StreamsJob, StreamsMeasured } from './streams-bench.ts';

// Goal: what streams of tokens cost both ends, and whether their times are true, in a fresh
// process. Started by streams-bench.ts with the job as its argument; prints one line of JSON.

const SAMPLE_COUNT = 64;
const SAMPLE_BYTES = 256;

const job = JSON.parse(process.argv[2] as string) as StreamsJob;
const { count, firstTokenNs, tokenNs } = job;
const serviceNs = firstTokenNs + (count - 1) * tokenNs;

/**
 * Looks at both ends' CPU time once the streams are as many as they will be, and before they become
 * fewer.
 */
class CostWatch {
  readonly #begin: NodeJS.Timeout;
  readonly #end: NodeJS.Timeout;
  tokens = 0;
  clientUs = Number.NaN;
  serverUs = Number.NaN;

  constructor(sink: ResponseSink) {
    let before = { tokens: 0, clientUs: 0, serverUs: 0 };
    const complete = sink.complete.bind(sink);
    let tokens = 0;
    Object.assign(sink, {
      complete: (...args: Parameters<ResponseSink['complete']>) => {
        tokens += args[2];
        complete(...args);
      },
    });
    const look = () => ({
      tokens,
      clientUs: cpuUsOf(process.pid),
      serverUs: cpuUsOf(job.serverPid),
    });
    this.#begin = setTimeout(() => {
      before = look();
    }, rampMs());
    this.#end = setTimeout(
      () => {
        const now = look();
        this.tokens = now.tokens - before.tokens;
        this.clientUs = now.clientUs - before.clientUs;
        this.serverUs = now.serverUs - before.serverUs;
      },
      rampMs() + job.seconds * 1e3,
    );
  }

  stop(): void {
    clearTimeout(this.#begin);
    clearTimeout(this.#end);
  }
}

/** Until as many samples end as begin, and both ends are compiled. */
function rampMs(): number {
  return serviceNs / 1e6 + 1500;
}

/** Differences from the times that the node was told, of samples behind the ramp. */
function errorsOf({
  queryEnd,
  latencyNs,
  firstTokenNs: firsts,
  scheduledNs,
  isCompleted,
}: RecordedColumns) {
  const [first, each]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < queryEnd; sample += 1) {
    if ((scheduledNs[sample] as number) < rampMs() * 1e6 || !isCompleted(sample)) continue;
    const firstNs = firsts?.[sample] as number;
    first.push(firstNs - firstTokenNs);
    each.push(((latencyNs[sample] as number) - firstNs) / (count - 1) - tokenNs);
  }
  const at = (values: number[], percentile: number): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * percentile)] ?? Number.NaN;
  return {
    samples: first.length,
    ttftP50Us: at(first, 0.5) / 1e3,
    ttftP99Us: at(first, 0.99) / 1e3,
    tpotP99Us: at(each.map(Math.abs), 0.99) / 1e3,
  };
}

const store = nullStore(SAMPLE_BYTES, SAMPLE_COUNT);
const qdl = await nullQdl(job.address, store, {
  benchmark: 'delay',
  tokenLatencies: true,
  tokenTimes: job.isStreamed,
});
const outdir = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
let watch: CostWatch | undefined;
let columns: RecordedColumns | undefined;
const sut: SystemUnderTest = {
  name: () => qdl.name(),
  start: (sink) => {
    watch = new CostWatch(sink);
    return qdl.start(sink);
  },
  issueQuery: (query) => qdl.issueQuery(query),
  flushQueries: () => qdl.flushQueries(),
  giveUp: () => qdl.giveUp(),
  stop: () => qdl.stop(),
};
try {
  await qdl.connect();
  const rss = new RssWatch(job.serverPid, () => 0);
  const { performance: phase } = await runTest({
    sut,
    qsl: store,
    settings: {
      ...defaultTestSettings(),
      scenario: 'Server',
      useTokenLatencies: true,
      serverTargetQps: (job.streams * 1e9) / serviceNs,
      minDurationMs: rampMs() + job.seconds * 1e3 + 500,
      minQueryCount: 1,
    },
    timesTokens: job.isStreamed,
    clock: issueClock('sleep'),
    log: { outdir },
    stallTimeoutNs: 30e9,
    drainTimeoutNs: 30e9,
    observer: {
      keepRecords: async ({ recorder }) => {
        columns = recorder.columns();
      },
    },
  });
  const points = rss.stop();
  watch?.stop();
  requireEqualLedgers(qdl);
  if (phase === null || phase.counts.lostSamples > 0 || columns === undefined) {
    throw new Error(phase?.failures[0]?.texts[0]?.text ?? phase?.faultText ?? 'the run broke');
  }
  const gaps = phase.summary.tokens?.gaps ?? null;
  const all = gaps && distributionOf(gaps.histogram);
  const measured: StreamsMeasured = {
    ...errorsOf(columns),
    itlP99Us: all === null ? null : all.percentileNs(0.99) / 1e3,
    tokensPerS: (watch?.tokens ?? 0) / job.seconds,
    clientUs: (watch?.clientUs ?? Number.NaN) / (watch?.tokens ?? 0),
    serverUs: (watch?.serverUs ?? Number.NaN) / (watch?.tokens ?? 0),
    clientBytes: Math.max(...points.map(({ clientBytes }) => clientBytes)),
    serverBytes: Math.max(...points.map(({ serverBytes }) => serverBytes)),
  };
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
} finally {
  rmSync(outdir, { recursive: true, force: true });
}

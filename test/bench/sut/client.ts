import { requireEqualLedgers } from '../null-path.ts';
import { ClosedLoop } from '../wire/closed-loop.ts';
import { standinQdl, standinStore } from './standin-path.ts';
import type { NodeJob } from './sut-bench.ts';

// Goal: one measurement of a SUT node that runs the stand-in, from LoadGen's side, in a fresh process.
// Started by sut-bench.ts with the job as its argument; prints one line of JSON.

/** No model of this size is faster. */
const QUERIES_PER_SECOND_MAX = 5_000;

const job = JSON.parse(process.argv[2] as string) as NodeJob;
const { sampleCount } = job;
const store = await standinStore(job.cacheFolder, job.encoding, sampleCount);
const qdl = standinQdl(job.address, store);
await qdl.connect();
await qdl.name();
const loop = new ClosedLoop(qdl, {
  outstanding: job.outstanding,
  sampleCount,
  warmUpNs: job.warmUpS * 1e9,
  measuredNs: job.seconds * 1e9,
  queriesMax: Math.ceil((job.warmUpS + job.seconds) * QUERIES_PER_SECOND_MAX),
  serverPid: job.serverPid,
});
await qdl.start(loop);
const measured = await loop.run();
await qdl.stop();
requireEqualLedgers(qdl);
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());

import { requireEqualLedgers } from '../null-path.ts';
import { runClient } from '../wire/run-client.ts';
import { standinQdl, standinStore } from './standin-path.ts';
import type { NodeJob } from './sut-bench.ts';

// Goal: one measurement of a SUT node that runs the stand-in, from LoadGen's side, in a fresh
// process. Started by sut-bench.ts with the job as its argument; prints one line of JSON.

/** No model of this size is faster. */
const QUERIES_PER_SECOND_MAX = 5_000;

const job = JSON.parse(process.argv[2] as string) as NodeJob;
const store = await standinStore(job);
const qdl = await standinQdl(job.address, job.benchmark, store);
await qdl.connect();
await runClient(qdl, job, QUERIES_PER_SECOND_MAX, () => requireEqualLedgers(qdl));

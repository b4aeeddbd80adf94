import { nullQdl, nullStore, requireEqualLedgers } from '../null-path.ts';
import { BareSut } from './bare-sut.ts';
import type { ClientJob } from './measured.ts';
import { runClient } from './run-client.ts';
import { TcpSut } from './tcp-sut.ts';

// Goal: one measurement of a path that ends in LoadGen's recorder, in a fresh process. Started by
// contestants.ts with the kind of path and the job as arguments; prints one line of JSON.

/** No path is faster than this. */
const QUERIES_PER_SECOND_MAX = 400_000;

const [kind, jobText] = process.argv.slice(2) as [string, string];
const job = JSON.parse(jobText) as ClientJob;
const { sampleCount } = job;
const store = nullStore(job.sizeBytes, sampleCount);
await store.loadSamplesToRam(Uint32Array.from({ length: sampleCount }, (_, i) => i));
const qdl = await nullQdl(job.address, store, job.channels);
const others = { bare: BareSut, tcp: TcpSut };
const Other = others[kind as keyof typeof others];
const sut = Other === undefined ? qdl : new Other(job.address, store);
if (sut === qdl) await qdl.connect();
await runClient(sut, job, QUERIES_PER_SECOND_MAX, () => {
  if (sut === qdl) requireEqualLedgers(qdl);
});

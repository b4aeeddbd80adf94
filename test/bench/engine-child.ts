import { type BenchJob, runJob } from './engine-job.ts';

// Goal: one measurement in a fresh process. Started by run-child.ts with the job as its argument.
const job = JSON.parse(process.argv[2] as string) as BenchJob;
const result = await runJob(job);
process.send?.(result, () => process.disconnect());

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchJob, BenchResult } from './engine-job.ts';

const CHILD = fileURLToPath(new URL('engine-child.js', import.meta.url));

/** Runs one job in a process of its own: a fresh heap, and memory that is only its own. */
export function runInChild(job: BenchJob): Promise<BenchResult> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [JSON.stringify(job)]);
    let result: BenchResult | undefined;
    child.once('message', (message) => {
      result = message as BenchResult;
    });
    child.once('exit', (code) => {
      if (result === undefined) reject(new Error(`${JSON.stringify(job)} ended with ${code}`));
      else resolve(result);
    });
  });
}

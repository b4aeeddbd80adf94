import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import { workerError } from '../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../shared/base/files/package-files.ts';

/** Time between two reports of progress, which may throw once the caller no longer waits. */
const PROGRESS_MS = 200;

/**
 * Makes a stand-in model on a thread of its own: the gRPC server of this one answers meanwhile that it is not ready.
 * @throws what `onProgress` throws, soon after; `ERR_SUT_WORKER`
 */
export async function makeInThread(
  job: {
    /** Compiled file of the thread, relative to the package. */
    readonly entry: string;
    /** Its `workerData`. */
    readonly work: unknown;
    /** The work in the progress text: `making the stand-in for ...`. */
    readonly what: string;
  },
  onProgress: BuildProgress,
): Promise<void> {
  onProgress(0, job.what);
  const givenUp = new AbortController();
  const worker = new Worker(compiledModule(job.entry), { workerData: job.work });
  const asking = setInterval(() => {
    try {
      onProgress(0, job.what);
    } catch (error) {
      givenUp.abort(error);
    }
  }, PROGRESS_MS);
  try {
    const [exitCode] = await once(worker, 'exit', { signal: givenUp.signal });
    if (exitCode === 0) return;
    throw workerError(`${job.what} ended with exit code ${exitCode}`);
  } catch (error) {
    throw givenUp.signal.aborted ? givenUp.signal.reason : error;
  } finally {
    clearInterval(asking);
    await worker.terminate();
  }
}

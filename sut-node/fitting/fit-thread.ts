import assert from 'node:assert';
import { parentPort, Worker } from 'node:worker_threads';
import type { BuildProgress } from '../../shared/cache/artifact-cache.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { compiledModule } from '../../shared/process/package-files.ts';
import { disableTelemetry } from '../onnx/onnxruntime.ts';
import type { FitMessage } from './fit-messages.ts';

/**
 * Runs a fit in a thread of its own: the gRPC server of this thread answers meanwhile that it is not ready.
 * @param module Entry of the thread, below the package root; it calls {@link workAsFitThread}.
 * @param workerData What the entry works with.
 * @throws MlperfError that the fit ended with, or `ERR_SUT_WORKER`
 */
export function runFitThread(
  module: string,
  workerData: unknown,
  onProgress: BuildProgress,
): Promise<void> {
  disableTelemetry();
  const worker = new Worker(compiledModule(module), { workerData });
  return new Promise((resolve, reject) => {
    let isDone = false;
    worker.on('message', (message: FitMessage) => {
      if (message.kind === 'progress') onProgress(message.fraction, message.what);
      else if (message.kind === 'done') isDone = true;
      else reject(new MlperfError(message.code, message.text));
    });
    worker.on('error', reject);
    // Not before the thread has ended: it gives its memory back before sessions are made.
    worker.on('exit', (exitCode) => {
      if (isDone) resolve();
      // Without effect when one of the above has rejected before.
      else reject(new MlperfError('ERR_SUT_WORKER', `the fit ended with exit code ${exitCode}`));
    });
  });
}

/** Does the work of a fit's thread; the entry awaits it. */
export async function workAsFitThread(
  work: (onProgress: BuildProgress) => Promise<void>,
): Promise<void> {
  const port = parentPort;
  assert(port !== null, 'this file is started as a worker thread only');
  const tell = (message: FitMessage): void => port.postMessage(message);
  try {
    await work((fraction, what) => tell({ kind: 'progress', fraction, what }));
    tell({ kind: 'done' });
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    tell({ kind: 'failure', code: error.code, text: error.message });
  }
}

import assert from 'node:assert';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { BuildProgress } from '../../../shared/base/cache/artifact-cache.ts';
import { MlperfError, type MlperfErrorCode } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { disableTelemetry } from '../../model/onnx/onnxruntime.ts';
import { trackThread } from '../../model/onnx/running-threads.ts';

/** `workerData` of a fit's thread. */
interface FitWorkerData {
  /** What the thread's entry works on; plain data. */
  readonly work: unknown;
  /** One element on shared memory; 1 says that nobody waits for the fit any more. */
  readonly isStopping: Int32Array;
}

/** What the worker thread of a fit tells the main thread. It ends with exit code 0 behind `done`. */
type FitMessage =
  | { readonly kind: 'progress'; readonly fraction: number; readonly what: string }
  | { readonly kind: 'done' }
  /** An error that people can act on; its class would be lost on the way. */
  | { readonly kind: 'failure'; readonly code: MlperfErrorCode; readonly text: string };

/**
 * Runs a fit in a thread of its own: the gRPC server of this thread answers meanwhile that it is not ready.
 * @param module Entry of the thread, below the package root; it calls {@link workAsFitThread}.
 * @param work What the entry works on; plain data.
 * @param onProgress May throw: the fit is asked to end then, and does at its next report of progress. A thread
 *   is never terminated, since ONNX Runtime takes the process down when that happens inside an inference.
 * @throws what `onProgress` threw, the MlperfError that the fit ended with, or `ERR_SUT_WORKER`
 */
export function runFitThread(
  module: string,
  work: unknown,
  onProgress: BuildProgress,
): Promise<void> {
  disableTelemetry();
  const isStopping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const data: FitWorkerData = { work, isStopping };
  const worker = new Worker(compiledModule(module), { workerData: data });
  trackThread(worker);
  return new Promise((resolve, reject) => {
    let isDone = false;
    let failure: unknown;
    worker.on('message', (message: FitMessage) => {
      if (message.kind === 'done') isDone = true;
      else if (message.kind === 'failure') failure ??= new MlperfError(message.code, message.text);
      else if (failure === undefined) {
        try {
          onProgress(message.fraction, message.what);
        } catch (error) {
          failure = error;
          Atomics.store(isStopping, 0, 1);
        }
      }
    });
    worker.on('error', (error) => {
      failure ??= error;
    });
    // Not before the thread has ended: it gives its memory back before sessions are made.
    worker.on('exit', (exitCode) => {
      if (isDone && failure === undefined) resolve();
      else
        reject(
          failure ?? new MlperfError('ERR_SUT_WORKER', `the fit ended with exit code ${exitCode}`),
        );
    });
  });
}

/** Does the work of a fit's thread; the entry awaits it. */
export async function workAsFitThread<T>(
  doWork: (work: T, onProgress: BuildProgress) => Promise<void>,
): Promise<void> {
  const port = parentPort;
  assert(port !== null, 'this file is started as a worker thread only');
  const tell = (message: FitMessage): void => port.postMessage(message);
  const { work, isStopping } = workerData as FitWorkerData;
  try {
    await doWork(work as T, (fraction, what) => {
      if (Atomics.load(isStopping, 0) === 1) {
        throw new MlperfError('ERR_INTERRUPTED', 'the fit was interrupted');
      }
      tell({ kind: 'progress', fraction, what });
    });
    tell({ kind: 'done' });
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    tell({ kind: 'failure', code: error.code, text: error.message });
  }
}

import { Worker } from 'node:worker_threads';
import { Deferred } from '../../../shared/base/async.ts';
import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { trackThread } from '../../model/onnx/running-threads.ts';
import type { FromWorker, ToWorker, WorkerData, WorkerStart } from './worker-messages.ts';

/** A worker, thread or process, as the pool sees it; a fake in tests. */
export interface WorkerThread {
  /** Sends a message; the buffers in `transfer` are gone on this side. */
  post(message: ToWorker, transfer: readonly ArrayBuffer[]): void;
  /** Lets the thread end behind the batch that it runs now. Resolves when it has ended. */
  stop(): Promise<void>;
  /**
   * Gives up a worker that hangs: it gets nothing any more, and nobody waits for it. A process is
   * killed. A thread is left alone until it comes back by itself: to terminate it inside ONNX Runtime would
   * end the node (how the process ends with it: running-threads.ts).
   */
  abandon(): void;
}

/** Where a worker reports. Both are called from the event loop only. */
export interface WorkerThreadEvents {
  onMessage(message: FromWorker): void;
  /** Called once, when the worker has ended for whatever reason. */
  onEnd(reason: string): void;
}

/** Starts a worker. */
export type SpawnWorker = (
  name: string,
  start: WorkerStart,
  events: WorkerThreadEvents,
) => WorkerThread;

/** Starts a real worker thread from the compiled JavaScript. */
export const spawnOrtWorker: SpawnWorker = (name, start, events) => {
  const isStopping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WorkerData = { ...start, isStopping };
  const worker = new Worker(compiledModule('sut-node/inference/workers/ort-worker.js'), {
    name,
    workerData,
  });
  return watchThread(worker, isStopping, events);
};

/**
 * Joins a thread to its pool.
 * @param isStopping As in {@link WorkerData}.
 * @internal
 */
export function watchThread(
  worker: Worker,
  isStopping: Int32Array,
  events: WorkerThreadEvents,
): WorkerThread {
  trackThread(worker);
  const ended = new Deferred<void>();
  let reason: string | undefined;
  worker.on('message', (message: FromWorker) => events.onMessage(message));
  worker.on('error', (error) => {
    reason = messageOf(error);
  });
  worker.on('exit', (code) => {
    ended.resolve();
    events.onEnd(reason ?? `the thread ended with code ${code}`);
  });
  const askToEnd = (): void => {
    Atomics.store(isStopping, 0, 1);
    worker.postMessage({ kind: 'stop' } satisfies ToWorker);
  };
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    stop: () => {
      askToEnd();
      return ended.promise;
    },
    abandon: () => {
      askToEnd();
      worker.unref();
    },
  };
}

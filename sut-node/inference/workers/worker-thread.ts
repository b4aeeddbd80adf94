import { Worker } from 'node:worker_threads';
import { Deferred } from '../../../shared/base/async.ts';
import { type MlperfErrorCode, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import type { CompressionName } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import type { ModelTensors, ModelUsage } from '../../model/model-facts.ts';
import type { DigestedModel } from '../../model/model-file.ts';
import { trackThread } from '../../model/onnx/onnxruntime.ts';
import type { RuntimeSettings } from '../../settings/model-settings.ts';
import type { BatchTimes, PayloadSlice } from '../batcher/sut-model.ts';

/** A worker, thread or process, as the pool sees it; a fake in tests. */
export interface WorkerThread {
  /** Id of the worker's own process; undefined for a thread, and for a process that could not start. */
  readonly pid?: number | undefined;
  /** Sends a message; the buffers in `transfer` are gone on this side. */
  post(message: ToWorker, transfer: readonly ArrayBuffer[]): void;
  /** Lets the thread end behind the batch that it runs now. Resolves when it has ended. */
  stop(): Promise<void>;
  /**
   * Gives up a worker that hangs: it gets no more batches, and is not awaited. A process is
   * killed. A thread is left alone until it comes back by itself: to terminate it inside ONNX Runtime would
   * end the node (how the process ends with it: onnxruntime.ts).
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

/**
 * Messages between the I/O thread and a worker. A worker's life:
 *
 *   I/O thread                                worker
 *   new Worker(WorkerStart) ───────────────►  loads the model
 *             ◄──────────────────── loaded    (or failed, and the thread ends)
 *   warm-up   ───────────────────────────►    runs the model once per batch size
 *             ◄───────────────────── ready    (or failed, and the thread ends)
 *   batch     ───────────────────────────►    one after the other; of a model that generates, side by side
 *             ◄─────── first-token, tokens    (of a model that generates)
 *             ◄────────────────────── done
 *   isStopping, stop ────────────────────►    the thread ends behind the batch that runs
 *
 * A worker is asked to end, never terminated: ONNX Runtime 1.30 takes the whole process down when its
 * thread is terminated inside an inference ("terminate called after throwing Napi::Error").
 */

/** Model and settings of a worker. */
export interface WorkerStart extends DigestedModel {
  /** Key of the benchmark: functions cannot travel between threads, so the worker looks it up. */
  readonly benchmark: string;
  readonly usage: ModelUsage;
  readonly runtime: RuntimeSettings;
  /** Most samples of one inference where the model takes any number. */
  readonly batchSizeMax: number;
  /** The same where the settings say it; undefined: the default. */
  readonly batchSizeAsked?: number | undefined;
  /** Encodings of payloads by the number that stands in {@link BatchMessage.forms}. */
  readonly encodings: readonly PayloadEncoding[];
  /** Bytes that a sample, and a query compressed as a whole, may have once they are decompressed. */
  readonly sampleBytesMax: number;
  readonly queryBytesMax: number;
  /** Compression of every response. */
  readonly responseCompression: CompressionName;
}

/** `workerData` of a worker thread. */
export interface WorkerData extends WorkerStart {
  /** One element on shared memory; 1 says that batches which have not begun are to be left. */
  readonly isStopping: Int32Array;
}

/** One batch. `payloads` is transferred. */
export interface BatchMessage {
  readonly kind: 'batch';
  /**
   * Payloads of the samples, one behind the other; that of sample i lies from `begins[i]` to `ends[i]`.
   * Neighbours of one query that is compressed as a whole lie at the same place. May be longer.
   */
  readonly payloads: ArrayBuffer;
  readonly begins: Float64Array;
  readonly ends: Float64Array;
  /** Per sample, where it lies in its query's payload; absent when no sample of the batch has one. */
  readonly slices?: readonly (PayloadSlice | undefined)[];
  readonly forms: Uint8Array;
  /** Whether tokens behind the first are wanted as they come. */
  readonly takesTokens: boolean;
}

/** Which of a worker's batches a message is about: batches of a model that generates end in any order. */
interface Numbered {
  readonly number: number;
}

/**
 * I/O thread to worker: run the model once per batch size that matters, so that no query pays for first-time work; a batch;
 * nobody waits for that batch any more; no more will come.
 */
export type ToWorker =
  | { readonly kind: 'warm-up' }
  | (BatchMessage & Numbered)
  | ({ readonly kind: 'cancel' } & Numbered)
  | { readonly kind: 'stop' };

/** The worker cannot start. */
export interface FailedMessage {
  readonly kind: 'failed';
  readonly code: MlperfErrorCode;
  readonly text: string;
}

/** A sample that has no response, and why. */
export interface BadSample {
  readonly row: number;
  readonly text: string;
}

/** Results of a batch. Both buffers are transferred. */
export interface DoneMessage extends Omit<BatchTimes, 'takenAtNs'> {
  readonly kind: 'done';
  /** The buffer of the batch, for the next one. */
  readonly payloads: ArrayBuffer;
  /** Response bytes of the samples, one behind the other; sample i ends at `ends[i]`. */
  readonly responses: ArrayBuffer;
  readonly ends: Float64Array;
  /** Samples that could not be read, or whose output could not. */
  readonly badSamples: readonly BadSample[];
  /** Set where the model itself failed: those rows have no response. */
  readonly failure: { readonly text: string; readonly rows: readonly number[] } | undefined;
  /** Output tokens of each sample, of a model that generates. */
  readonly tokenCounts?: readonly number[];
}

/** The first token of a batch's one sample, before the rest: bytes as at the beginning of its response. */
export interface FirstTokenMessage {
  readonly kind: 'first-token';
  readonly payload: Uint8Array;
}

/** Further tokens of batches of one sample, as one step gave them; not those that end a sample. */
export interface TokensMessage {
  readonly kind: 'tokens';
  readonly numbers: readonly number[];
  /** Bytes of the batches' tokens, one behind the other; those of batch i end at `ends[i]`. */
  readonly payload: Uint8Array;
  readonly ends: readonly number[];
}

/** Worker to I/O thread: the model is loaded; it has run. */
export type FromWorker =
  | { readonly kind: 'loaded'; readonly tensors: ModelTensors }
  | { readonly kind: 'ready' }
  | FailedMessage
  | (FirstTokenMessage & Numbered)
  | TokensMessage
  | (DoneMessage & Numbered);

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
  /** Process id of the worker; undefined for a thread, and for a process that could not start. */
  readonly pid?: number | undefined;
  /** Sends a message; the buffers in `transfer` are detached on this side. */
  post(message: ToWorker, transfer: readonly ArrayBuffer[]): void;
  /** Lets the thread end after its current batch. Resolves when it has ended. */
  stop(): Promise<void>;
  /**
   * Gives up a worker that hangs: it gets no more batches, and is not awaited. A process is killed.
   * A thread is left alone until it returns: terminating it inside ONNX Runtime would end the node
   * (how the process ends with it: onnxruntime.ts).
   */
  abandon(): void;
}

/** Events of a worker, called from the event loop only. */
export interface WorkerThreadEvents {
  onMessage(message: FromWorker): void;
  /** Called once, when the worker has ended for any reason. */
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
 * Connects a thread to its pool.
 * @param isStopping See {@link WorkerData}.
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
 *   I/O thread worker
 *   new Worker(WorkerStart) ───────────────► loads the model
 *             ◄──────────────────── loaded (or failed, and the thread ends)
 *   warm-up ───────────────────────────► runs the model once per batch size
 *             ◄───────────────────── ready (or failed, and the thread ends)
 *   batch ───────────────────────────► one after the other; of a model that generates, side by side
 *             ◄─────── first-token, tokens (of a model that generates)
 *             ◄────────────────────── done
 *   isStopping, stop ────────────────────► the thread ends behind the batch that runs
 *
 * A worker is asked to end, never terminated: ONNX Runtime 1.30 takes the whole process down when
 * its thread is terminated inside an inference ("terminate called after throwing Napi::Error").
 */

/** Model and settings of a worker. */
export interface WorkerStart extends DigestedModel {
  /** Key of the benchmark: functions cannot be sent to threads, so the worker looks it up. */
  readonly benchmark: string;
  readonly usage: ModelUsage;
  readonly runtime: RuntimeSettings;
  /** Most samples per inference, if the model takes any number. */
  readonly batchSizeMax: number;
  /** Requested {@link batchSizeMax}; undefined: the default. */
  readonly batchSizeAsked?: number | undefined;
  /** Payload encodings by the number in {@link BatchMessage.forms}. */
  readonly encodings: readonly PayloadEncoding[];
  /** Largest decompressed size of a sample, and of a query compressed as a whole, bytes. */
  readonly sampleBytesMax: number;
  readonly queryBytesMax: number;
  /** Compression of every response. */
  readonly responseCompression: CompressionName;
}

/** `workerData` of a worker thread. */
export interface WorkerData extends WorkerStart {
  /** One element on shared memory; 1 means: skip batches that have not begun. */
  readonly isStopping: Int32Array;
}

/** One batch. `payloads` is transferred. */
export interface BatchMessage {
  readonly kind: 'batch';
  /**
   * Payloads of the samples, concatenated; sample i is from `begins[i]` to `ends[i]`. Neighbouring
   * samples of a query that was compressed as a whole have the same range. The buffer may be longer
   * than the payloads.
   */
  readonly payloads: ArrayBuffer;
  readonly begins: Float64Array;
  readonly ends: Float64Array;
  /** Per sample, its place in its query's payload; absent if no sample has one. */
  readonly slices?: readonly (PayloadSlice | undefined)[];
  readonly forms: Uint8Array;
  /** True if tokens after the first are requested. */
  readonly takesTokens: boolean;
}

/** Number of a worker's batch: a generating model ends batches in any order. */
interface Numbered {
  readonly number: number;
}

/**
 * I/O thread to worker: run the model once per relevant batch size, so that no query pays for
 * first-time work; a batch; cancel a batch; stop.
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

/** A sample without a response, with the reason. */
export interface BadSample {
  readonly row: number;
  readonly text: string;
}

/** Results of a batch. Both buffers are transferred. */
export interface DoneMessage extends Omit<BatchTimes, 'takenAtNs'> {
  readonly kind: 'done';
  /** The buffer of the batch, for reuse. */
  readonly payloads: ArrayBuffer;
  /** Response bytes of the samples, concatenated; sample i ends at `ends[i]`. */
  readonly responses: ArrayBuffer;
  readonly ends: Float64Array;
  /** Samples with an unreadable payload or output. */
  readonly badSamples: readonly BadSample[];
  /** Set if the model failed: these rows have no response. */
  readonly failure: { readonly text: string; readonly rows: readonly number[] } | undefined;
  /** Output tokens of each sample, for a generating model. */
  readonly tokenCounts?: readonly number[];
}

/** The first token of a batch's only sample, before the rest: the first bytes of its response. */
export interface FirstTokenMessage {
  readonly kind: 'first-token';
  readonly payload: Uint8Array;
}

/** Further tokens of one step, for batches of one sample; without those that end a sample. */
export interface TokensMessage {
  readonly kind: 'tokens';
  readonly numbers: readonly number[];
  /** Token bytes of the batches, concatenated; batch i ends at `ends[i]`. */
  readonly payload: Uint8Array;
  readonly ends: readonly number[];
}

/** Worker to I/O thread: the model is loaded; it has run; results. */
export type FromWorker =
  | { readonly kind: 'loaded'; readonly tensors: ModelTensors }
  | { readonly kind: 'ready' }
  | FailedMessage
  | (FirstTokenMessage & Numbered)
  | TokensMessage
  | (DoneMessage & Numbered);

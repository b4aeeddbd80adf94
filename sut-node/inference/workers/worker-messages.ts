import type { MlperfErrorCode } from '../../../shared/base/errors/mlperf-error.ts';
import type { CompressionName } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import type { ModelTensors, ModelUsage } from '../../model/model-facts.ts';
import type { RuntimeSettings } from '../../settings/model-settings.ts';
import type { BatchTimes, PayloadSlice } from '../batcher/waiting-sample.ts';

/**
 * What passes between the I/O thread and a worker. A worker's life:
 *
 *   I/O thread                                worker
 *   new Worker(WorkerStart) ───────────────►  loads the model
 *             ◄──────────────────── loaded    (or failed, and the thread ends)
 *   warm-up   ───────────────────────────►    runs the model once per batch size
 *             ◄───────────────────── ready    (or failed, and the thread ends)
 *   batch     ───────────────────────────►    one after the other
 *             ◄────────────────────── done
 *   isStopping, stop ────────────────────►    the thread ends behind the batch that runs
 *
 * A worker is asked to end, never terminated: ONNX Runtime 1.30 takes the whole process down when its
 * thread is terminated inside an inference ("terminate called after throwing Napi::Error").
 */

/** What a worker works with. */
export interface WorkerStart {
  /** Key of the benchmark: functions cannot travel between threads, so the worker looks it up. */
  readonly benchmark: string;
  readonly modelFile: string;
  /** SHA-256 that the file must have when the worker reads it, lower-case hexadecimal. */
  readonly sha256: string;
  readonly usage: ModelUsage;
  readonly runtime: RuntimeSettings;
  /** Most samples of one inference where the model takes any number. */
  readonly batchSizeMax: number;
  /** Encodings of payloads by the number that stands in {@link BatchMessage.forms}. */
  readonly encodings: readonly PayloadEncoding[];
  /** Bytes that a sample, and a query compressed as a whole, may have once they are decompressed. */
  readonly sampleBytesMax: number;
  readonly queryBytesMax: number;
  /** What every response is compressed with. */
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
}

/** I/O thread to worker: run the model once per batch size that matters, so that no query pays for first-time work; a batch; no more will come. */
export type ToWorker = { readonly kind: 'warm-up' } | BatchMessage | { readonly kind: 'stop' };

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

/** What became of a batch. Both buffers are transferred. */
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
}

/** Worker to I/O thread: the model is loaded; it has run. */
export type FromWorker =
  | { readonly kind: 'loaded'; readonly tensors: ModelTensors }
  | { readonly kind: 'ready' }
  | FailedMessage
  | DoneMessage;

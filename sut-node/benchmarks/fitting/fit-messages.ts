import type { MlperfErrorCode } from '../../../shared/base/errors/mlperf-error.ts';

/** `workerData` of a fit's thread. */
export interface FitWorkerData {
  /** What the thread's entry works on; plain data. */
  readonly work: unknown;
  /** One element on shared memory; 1 says that nobody waits for the fit any more. */
  readonly isStopping: Int32Array;
}

/** What the worker thread of a fit tells the main thread. It ends with exit code 0 behind `done`. */
export type FitMessage =
  | { readonly kind: 'progress'; readonly fraction: number; readonly what: string }
  | { readonly kind: 'done' }
  /** An error that people can act on; its class would be lost on the way. */
  | { readonly kind: 'failure'; readonly code: MlperfErrorCode; readonly text: string };

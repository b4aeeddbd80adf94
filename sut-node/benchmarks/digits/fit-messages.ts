import type { MlperfErrorCode } from '../../../shared/errors/mlperf-error.ts';

/** What the fit's worker thread tells the main thread. The last message is `model` or `failure`. */
export type FitMessage =
  | { readonly kind: 'progress'; readonly fraction: number; readonly what: string }
  | { readonly kind: 'model'; readonly file: Uint8Array }
  /** An error that people can act on; its class would be lost on the way. */
  | { readonly kind: 'failure'; readonly code: MlperfErrorCode; readonly text: string };

import assert from 'node:assert';
import { parentPort } from 'node:worker_threads';
import { MlperfError } from '../../../shared/errors/mlperf-error.ts';
import { fitDigitsModel } from './fit-digits.ts';
import type { FitMessage } from './fit-messages.ts';

/** Entry of the worker thread that fits the example model once and ends. */
const port = parentPort;
assert(port !== null, 'fit-worker.js is started as a worker thread only');

function tell(message: FitMessage): void {
  port?.postMessage(message);
}

try {
  const file = await fitDigitsModel((fraction, what) => tell({ kind: 'progress', fraction, what }));
  tell({ kind: 'model', file });
} catch (error) {
  if (!(error instanceof MlperfError)) throw error;
  tell({ kind: 'failure', code: error.code, text: error.message });
}

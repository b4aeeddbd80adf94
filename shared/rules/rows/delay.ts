import type { BenchmarkRules } from './benchmark-row.ts';
import { NULL } from './null.ts';

/** Tests LoadGen against service times, and token latencies, that are known. */
export const DELAY: BenchmarkRules = {
  ...NULL,
  key: 'delay',
  title: 'no model: the node answers every sample after a time that its settings say',
};

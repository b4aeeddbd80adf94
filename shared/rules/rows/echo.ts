import type { BenchmarkRules } from './benchmark-row.ts';
import { NULL } from './null.ts';

/** Measures the wire with as many bytes back as there. */
export const ECHO: BenchmarkRules = {
  ...NULL,
  key: 'echo',
  title: 'no model: the node answers every sample with its own bytes, which come back unchanged',
  quality: { metric: 'echoed', target: 1 },
};

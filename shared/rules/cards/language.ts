import type { BenchmarkCard } from '../rows/benchmark-card.ts';

/**
 * Encodings and tensors of language models: a sample is its token ids, int32, without padding, and
 * so is a response, with the token that ends it. Rule: inference_rules v4.1, QSL side
 * pre-processing: the token ids alone may travel.
 */
export const TOKENS = {
  hasTokens: true,
  encodings: { ids: { form: 'ids', compression: 'identity' } },
  sampleTensors: { ids: { datatype: 'INT32', shape: [-1] } },
  responseTensor: { datatype: 'INT32', shape: [-1] },
  // A text of 1,024 tokens takes a minute at 60 ms per token, and later samples wait for it.
  defaults: { stallTimeout: '600s' },
} as const satisfies Partial<BenchmarkCard>;

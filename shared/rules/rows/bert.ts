import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';

/** Tokens of a sample, with its padding. */
export const BERT_LENGTH = 384;

/**
 * How a sample may travel: `ids` is its token ids, int32; `int64` and `int32` are the model's three inputs, token ids, mask
 * and segment ids, one behind the other. Rule: inference_rules v4.1, QSL side pre-processing: all three, or the token ids alone.
 */
export const BERT_ENCODINGS: Readonly<Record<'ids' | 'int64' | 'int32', PayloadEncoding>> = {
  ids: { form: 'ids', compression: 'identity' },
  int64: { form: 'int64', compression: 'identity' },
  int32: { form: 'int32', compression: 'identity' },
};

/** The same payloads as tensors. */
export const BERT_TENSORS: Readonly<Record<'ids' | 'int64' | 'int32', SampleTensor>> = {
  ids: { datatype: 'INT32', shape: [BERT_LENGTH] },
  int64: { datatype: 'INT64', shape: [3, BERT_LENGTH] },
  int32: { datatype: 'INT32', shape: [3, BERT_LENGTH] },
};

/** A response: start and end logit of each position. */
export const BERT_RESPONSE_TENSOR: SampleTensor = { datatype: 'FP32', shape: [BERT_LENGTH, 2] };

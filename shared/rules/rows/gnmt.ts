import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';

/** A sample on the wire: a line of the data set, words and parts of words by blanks, as UTF-8. Rule: v0.5, "NMT takes text". */
export const GNMT_ENCODINGS: Readonly<Record<'text', PayloadEncoding>> = {
  text: { form: 'text', compression: 'identity' },
};

/** The same for protocols of tensors. */
export const GNMT_TENSORS: Readonly<Record<'text', SampleTensor>> = {
  text: { datatype: 'BYTES', shape: [1] },
};

/** A response: the translation as UTF-8, words by blanks. */
export const GNMT_RESPONSE_TENSOR: SampleTensor = { datatype: 'UINT8', shape: [-1] };

/** Names of the vocabularies, a token in each line, whose number from 0 is its id. */
export const GNMT_VOCABULARIES = {
  source: 'vocab.bpe.32000.en',
  target: 'vocab.bpe.32000.de',
} as const;

/** First lines of each vocabulary; their ids are 0, 1 and 2. Source: r0.5, translation/gnmt, nmt/utils/vocab_utils.py. */
export const GNMT_SPECIAL_TOKENS = ['<unk>', '<s>', '</s>'] as const;

/** End of a token that the next one continues. */
export const BPE_JOINT = '@@';

import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { V05_COMPRESSION } from '../rows/compression-row.ts';
import { v05Row } from '../rows/model-row.ts';

/** Names of the vocabularies. Each line has a token; the line's number from 0 is its id. */
export const GNMT_VOCABULARIES = {
  source: 'vocab.bpe.32000.en',
  target: 'vocab.bpe.32000.de',
} as const;

/**
 * First lines of each vocabulary; their ids are 0, 1 and 2. Source: r0.5, translation/gnmt,
 * nmt/utils/vocab_utils.py.
 */
export const GNMT_SPECIAL_TOKENS = ['<unk>', '<s>', '</s>'] as const;

/** End of a token that the next one continues. */
export const BPE_JOINT = '@@';

/**
 * A sample on the wire: a line of the data set, words and parts of words by blanks, as UTF-8. Rule:
 * v0.5, "NMT takes text". A response: the translation as UTF-8, words by blanks.
 *
 * Only round v0.5 has it. Rule: paper of that round, table 1 (99 % of 23.9 BLEU, Server 250 ms at
 * the 97th percentile).
 */
export const GNMT = {
  key: 'gnmt',
  title: 'translation of round v0.5: GNMT, English to German, on newstest2014',
  encodings: { text: { form: 'text', compression: 'identity' } },
  sampleTensors: { text: { datatype: 'BYTES', shape: [1] } },
  responseTensor: { datatype: 'UINT8', shape: [-1] },
  models: [v05Row('gnmt', 'gnmt', 3003, { references: { BLEU: 23.9 } })],
  compression: [V05_COMPRESSION],
  generated: { standard: { seed: 12, sampleCount: 512 } },
} as const satisfies BenchmarkCard;

import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import {
  compressionRow,
  LOSSLESS,
  NETWORK_ROUNDS,
  NONE_OR_LOSSLESS,
} from '../rows/compression-row.ts';
import { OFFLINE_TO_V31, pair, SERVER_OFFLINE, SINGLE_OFFLINE } from '../rows/model-row.ts';

/** Tokens of a sample, with its padding. */
export const BERT_LENGTH = 384;

/**
 * How a sample may travel: `ids` is its token ids, int32; `int64` and `int32` are the model's three
 * inputs, token ids, mask and segment ids, one behind the other. Rule: inference_rules v4.1, QSL
 * side pre-processing: all three, or the token ids alone. A response: start and end logit of each
 * position.
 *
 * Rules: checker and Network division of v4.1 (QSL size 10833, 99 % of FP32 = 90.874 %, Server 130
 * ms); bert-99.9 is chosen when a submission is built. Rounds after v4.1 do not have it in the
 * datacenter suite. The inference rules of v4.1 name BERT for the edge suite and in the Network
 * division's table of compression; the official tool takes it in the datacenter suite, too.
 */
export const BERT = {
  key: 'bert',
  title: 'question answering: BERT-large on SQuAD v1.1',
  encodings: {
    ids: { form: 'ids', compression: 'identity' },
    int64: { form: 'int64', compression: 'identity' },
    int32: { form: 'int32', compression: 'identity' },
  },
  sampleTensors: {
    ids: { datatype: 'INT32', shape: [BERT_LENGTH] },
    int64: { datatype: 'INT64', shape: [3, BERT_LENGTH] },
    int32: { datatype: 'INT32', shape: [3, BERT_LENGTH] },
  },
  responseTensor: { datatype: 'FP32', shape: [BERT_LENGTH, 2] },
  models: pair(
    {
      name: 'bert',
      rounds: ['v2.1', 'v6.1'],
      scenarios: { datacenter: SERVER_OFFLINE },
      samples: 10_833,
      offlineSamples: OFFLINE_TO_V31,
      serverLatencyNs: 130_000_000,
      references: { F1: 90.874 },
      tests: ['TEST01', 'TEST05'],
      since: {
        'v4.0': { offlineSamples: 10_833 },
        'v5.0': {
          scenarios: { edge: SINGLE_OFFLINE },
          serverLatencyNs: undefined,
          tests: ['TEST01'],
        },
      },
    },
    { scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE } },
  ),
  compression: [
    compressionRow(
      NETWORK_ROUNDS,
      'Input is either Token IDs, Input Masks and Segment IDs or just the Token IDs (generating the other ' +
        `tensors at the SUT in a timed operation). ${NONE_OR_LOSSLESS}`,
      LOSSLESS,
    ),
  ],
  bandwidth: { input: `3*${BERT_LENGTH}*dtype_size`, inputElements: 3 * BERT_LENGTH },
  generated: { standard: { seed: 12, sampleCount: 512 } },
} as const satisfies BenchmarkCard;

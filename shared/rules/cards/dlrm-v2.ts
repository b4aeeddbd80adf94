import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { networkRounds, pairsRow } from '../rows/compression-row.ts';
import { pair, SERVER_OFFLINE } from '../rows/model-row.ts';

/** Dense features of a pair (a user and an item): float32. */
export const DENSE_COUNT = 13;

/**
 * Indices of a pair in each of the 26 tables: int32.
 * Source: MLCommons inference, recommendation/dlrm_v2/pytorch/tools/make_fake_criteo.sh.
 */
export const MULTI_HOT_SIZES: readonly number[] = [
  3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1,
];

/** Rows of each table: an index is below this number. Source: the same folder's README. */
export const TABLE_ROWS: readonly number[] = [
  40_000_000, 39_060, 17_295, 7_424, 20_265, 3, 7_122, 1_543, 63, 40_000_000, 3_067_956, 405_282,
  10, 2_209, 11_938, 155, 4, 976, 14, 40_000_000, 40_000_000, 40_000_000, 590_152, 12_973, 108, 36,
];

/** Indices of a pair over all tables: 214. */
export const SPARSE_COUNT: number = MULTI_HOT_SIZES.reduce((sum, size) => sum + size, 0);

/** Bytes of a pair in a sample: 908. */
export const PAIR_BYTES: number = (DENSE_COUNT + SPARSE_COUNT) * 4;

/**
 * A sample of n pairs on the wire, little-endian: n x 13 float32, then table by table n x size
 * int32, row-major. The number of pairs follows from the byte count, so there is no header. A
 * response: the probability of a click of each pair, in the order of the pairs.
 *
 * Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 204800, 99 % or 99.9 % of
 * FP32, AUC = 80.31 %, Server 60 ms). Rounds after v5.1 have another model of recommendation.
 */
export const DLRM_V2 = {
  key: 'dlrm-v2',
  title: 'recommendation: DLRM-DCNv2 on the multi-hot Criteo 1TB click logs',
  encodings: { raw: { form: 'raw', compression: 'identity' } },
  sampleTensors: { raw: { datatype: 'UINT8', shape: [-1] } },
  responseTensor: { datatype: 'FP32', shape: [-1] },
  models: pair({
    name: 'dlrm-v2',
    rounds: ['v3.1', 'v5.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
    performanceSamples: 204_800,
    // Tools differ in the sample count of an accuracy run in v5.1: 204,800 in the round's own tool,
    // the whole data set in the newest one.
    dataSetSamples: 330_067,
    offlineSamples: 24_576,
    serverLatencyNs: 60_000_000,
    references: { AUC: 80.31 },
    tests: ['TEST01', 'TEST05'],
    since: { 'v5.0': { tests: ['TEST01'] } },
  }),
  compression: [pairsRow(networkRounds('v4.1', 'v5.1'))],
  // Two types of data, 270 pairs of 13 numbers and 26 categories, here of one size.
  bandwidth: { input: '270*(13+26)*dtype_size', inputElements: 270 * 39 },
  generated: { standard: { seed: 41, sampleCount: 512 } },
} as const satisfies BenchmarkCard;

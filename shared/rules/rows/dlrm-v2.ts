import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';

/** Dense features of a pair (a user and an item): float32. */
export const DENSE_COUNT = 13;

/**
 * Indices of a pair in each of the 26 tables: int32.
 * Source: MLCommons inference, recommendation/dlrm_v2/pytorch/tools/make_fake_criteo.sh.
 */
export const MULTI_HOT_SIZES: readonly number[] = [
  3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1,
];

/** Rows of each table: an index is below. Source: the same folder's README. */
export const TABLE_ROWS: readonly number[] = [
  40_000_000, 39_060, 17_295, 7_424, 20_265, 3, 7_122, 1_543, 63, 40_000_000, 3_067_956, 405_282,
  10, 2_209, 11_938, 155, 4, 976, 14, 40_000_000, 40_000_000, 40_000_000, 590_152, 12_973, 108, 36,
];

/** Indices of a pair over all tables: 214. */
export const SPARSE_COUNT: number = MULTI_HOT_SIZES.reduce((sum, size) => sum + size, 0);

/** Bytes of a pair in a sample: 908. */
export const PAIR_BYTES: number = (DENSE_COUNT + SPARSE_COUNT) * 4;

/**
 * A sample of n pairs on the wire, little-endian: n x 13 float32, then table by table n x size int32, row-major. The
 * number of pairs follows from the byte count, so there is no header.
 */
export const DLRM_ENCODINGS: Readonly<Record<'raw', PayloadEncoding>> = {
  raw: { form: 'raw', compression: 'identity' },
};

/** The same payload as a tensor: its bytes. */
export const DLRM_TENSORS: Readonly<Record<'raw', SampleTensor>> = {
  raw: { datatype: 'UINT8', shape: [-1] },
};

/** A response: the probability of a click of each pair, in the order of the pairs. */
export const DLRM_RESPONSE_TENSOR: SampleTensor = { datatype: 'FP32', shape: [-1] };

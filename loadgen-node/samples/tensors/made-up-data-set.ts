import assert from 'node:assert';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { elementCount, type OipTensor } from '../../../shared/domain/tensors.ts';
import { SYNTHETIC_BYTES_MAX } from '../../../shared/rules/rows/synthetic-samples.ts';
import { madeUpBytes, randomContents } from './made-up-values.ts';
import { type NamedTensor, type TensorDataSet, tensorDataSet } from './tensor-data-set.ts';

/** Samples of random data or of zeros where nobody says how many. */
export const MADE_UP_COUNT_DEFAULT = 256;
/** Seed of random data where nobody says another: runs repeat each other. */
export const MADE_UP_SEED_DEFAULT = 1;

/** What is made up. */
export interface MadeUpSet {
  readonly kind: 'random' | 'zeros';
  /** 32 bits. */
  readonly seed: number;
  readonly sampleCount: number;
}

/**
 * Samples that are made when they are loaded: sample i is the i-th sequence of the seed, so a larger set begins as a smaller
 * one. All have one shape and one length.
 * @param inputs Of one sample; all lengths are known (requireKnownShapes).
 * @throws MlperfError `ERR_CONFIG_INVALID` where a sample would be too large.
 */
export function madeUpDataSet(
  inputs: readonly OipTensor[],
  { kind, seed, sampleCount }: MadeUpSet,
): TensorDataSet {
  const bytes = inputs.reduce(
    (sum, { datatype, shape }) => sum + madeUpBytes(datatype, elementCount(shape), kind),
    0,
  );
  if (bytes > SYNTHETIC_BYTES_MAX) {
    throw configInvalid(
      `--data ${kind}: a sample would have ${bytes} bytes; ${SYNTHETIC_BYTES_MAX} are the most`,
    );
  }
  const sampleTensors = (sampleIndex: number): Promise<readonly NamedTensor[]> => {
    assert(sampleIndex < sampleCount);
    const random = new SeededRandom(seed, sampleIndex);
    const tensors = inputs.map(({ name, datatype, shape }) => {
      const count = elementCount(shape);
      const raw =
        kind === 'random'
          ? randomContents(datatype, count, random)
          : new Uint8Array(madeUpBytes(datatype, count, kind));
      return { name, datatype, shape, raw };
    });
    return Promise.resolve(tensors);
  };
  return tensorDataSet({
    name: kind,
    folder: '',
    totalSampleCount: sampleCount,
    marks: [`the samples are made up (--data ${kind}): no accuracy of this run means anything`],
    isUniform: true,
    sampleTensors,
  });
}

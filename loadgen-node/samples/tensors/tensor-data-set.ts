import {
  fitsShape,
  joinedContents,
  type NamedTensor,
  type OipTensor,
} from '../../../shared/domain/tensors.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { DataSet } from '../data-set/data-set.ts';
import { scoreAnswered } from '../data-set/first-of-each.ts';

/** A data set whose samples are the inputs of a model. */
export interface TensorDataSet extends DataSet {
  /** True if all samples have the same shapes and, per input, the same number of bytes. */
  readonly isUniform: boolean;
  /**
   * The inputs of one sample, in the model's order; untimed.
   * @throws MlperfError `ERR_DATA_SET` with the file, and the line if it has lines.
   */
  sampleTensors(sampleIndex: number): Promise<readonly NamedTensor[]>;
}

/** Part of a data set that depends on the source of its tensors. */
type TensorSource = Omit<TensorDataSet, 'readPayload' | 'scoreAccuracy'>;

const { metric } = benchmarkRules('custom').quality;

/**
 * A data set of a source's samples. A payload is the concatenated raw contents of all inputs. Only
 * the user knows the correct answers: accuracy is the share of samples with a non-empty response.
 */
export function tensorDataSet(source: TensorSource): TensorDataSet {
  return {
    ...source,
    readPayload: async (sampleIndex) => joinedContents(await source.sampleTensors(sampleIndex)),
    scoreAccuracy: (entries) => scoreAnswered(entries, source.totalSampleCount, metric),
  };
}

/**
 * Shape of one sample in a file, if it fits the input: unchanged, or after a batch axis of length
 * 1.
 * @param input Input of one sample; free axes take any length.
 * @returns undefined if it does not fit.
 */
export function fitShape(
  shape: readonly number[],
  input: OipTensor,
): readonly number[] | undefined {
  const isBatch = shape.length === input.shape.length + 1 && shape[0] === 1;
  const own = isBatch ? shape.slice(1) : shape;
  return fitsShape(own, input.shape) ? own : undefined;
}

/** A shape for people. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}

/** Length prefix of a BYTES element in raw contents. */
const LENGTH_BYTES = 4;

/** Raw contents of a BYTES tensor: each element after its length, 4 bytes little-endian. */
export function bytesContents(elements: readonly Uint8Array[]): Uint8Array {
  const total = elements.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0);
  const raw = Buffer.allocUnsafe(total);
  let at = 0;
  for (const element of elements) {
    raw.writeUInt32LE(element.length, at);
    raw.set(element, at + LENGTH_BYTES);
    at += LENGTH_BYTES + element.length;
  }
  return raw;
}

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
  /** True where all samples have the same shapes and, input by input, the same number of bytes. */
  readonly isUniform: boolean;
  /**
   * The inputs of one sample, in the order of the model's; untimed.
   * @throws MlperfError `ERR_DATA_SET` naming the file, and the line where it has lines.
   */
  sampleTensors(sampleIndex: number): Promise<readonly NamedTensor[]>;
}

/** The part of a data set that its source of tensors decides. */
type TensorSource = Omit<TensorDataSet, 'readPayload' | 'scoreAccuracy'>;

const { metric } = benchmarkRules('custom').quality;

/**
 * A data set of the samples of a source. A payload is the raw contents of all inputs, one behind the other. Only the user
 * knows which answers are right: the accuracy is the share of the samples with a response of one byte or more.
 */
export function tensorDataSet(source: TensorSource): TensorDataSet {
  return {
    ...source,
    readPayload: async (sampleIndex) => joinedContents(await source.sampleTensors(sampleIndex)),
    scoreAccuracy: (entries) => scoreAnswered(entries, source.totalSampleCount, metric),
  };
}

/**
 * The shape of one sample in a file, where it is one of the input's: as it is, or behind a batch axis of length 1.
 * @param input Of one sample; free axes take any length.
 * @returns undefined where it does not fit.
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

/** Length before an element of BYTES in raw contents. */
const LENGTH_BYTES = 4;

/** Raw contents of a tensor of BYTES: 4 bytes of length, little-endian, before each element. */
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

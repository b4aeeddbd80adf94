import type { OipDataType } from '../../../shared/domain/data-types.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { scoreEach } from '../benchmarks/score-each.ts';
import type { AccuracyEntry, DataSet } from '../data-set/data-set.ts';

/** One input of one sample. */
export interface NamedTensor {
  readonly name: string;
  readonly datatype: OipDataType;
  /** Lengths of the axes of this sample, all known, without the batch axis. */
  readonly shape: readonly number[];
  /** Raw contents as the protocol has them: row-major, little-endian; BYTES with a length before each element. */
  readonly raw: Uint8Array;
}

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

/** What differs between one source of tensors and another. */
type TensorSource = Omit<TensorDataSet, 'readPayload' | 'scoreAccuracy'>;

const { metric } = benchmarkRules('custom').quality;

/**
 * A data set of what a source has. A payload is the raw contents of all inputs, one behind the other. Nobody but the user
 * knows which answers are right: the accuracy is the share of the samples with a response of one byte or more.
 */
export function tensorDataSet(source: TensorSource): TensorDataSet {
  const isAnswered = ({ response }: AccuracyEntry): boolean => response.length > 0;
  return {
    ...source,
    readPayload: async (sampleIndex) => {
      const tensors = await source.sampleTensors(sampleIndex);
      const [first] = tensors;
      if (first !== undefined && tensors.length === 1) return first.raw;
      return Buffer.concat(tensors.map(({ raw }) => raw));
    },
    scoreAccuracy: (entries) => ({
      metric,
      ...scoreEach(entries, source.totalSampleCount, isAnswered),
    }),
  };
}

import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';
import type { Round } from '../rounds/rounds.ts';

/** Accuracy that a benchmark demands of its model. */
export interface Quality {
  /** Name of the metric: `top-1`, ... */
  readonly metric: string;
  /** A run below this misses the benchmark's quality; a fraction from 0 to 1. */
  readonly target: number;
  /** A run above this misses it, too; absent: no value is too high. */
  readonly max?: number;
  /**
   * Base of the target: a share of the accuracy that the reference reaches in FP32. Undefined
   * where the target stands for itself.
   */
  readonly reference?: { readonly value: number; readonly share: number };
  /** Bounds on further metrics, which must hold as well; in the unit in which the official script prints them. */
  readonly more?: readonly MetricBounds[];
}

/** The least and the most that a metric may be. */
export interface MetricBounds {
  /** Name as the rules of a submission have it: `ROUGE2`, `FID_SCORE`, ... */
  readonly metric: string;
  /** The least; absent: none. */
  readonly target?: number;
  /** The most; absent: none. */
  readonly max?: number;
}

/** Settings of the nodes whose default a benchmark may have: limits on what travels, and how long an answer may take. */
export type BenchmarkDefault = 'queueBytesMax' | 'messageBytesMax' | 'stallTimeout';

/** Row of a benchmark: values that the rules fix, or this project for a benchmark of its own. */
export interface BenchmarkRules {
  /**
   * Key on the command line, in configuration files and on the wire; for a benchmark of MLPerf, its name in
   * mlperf.conf. Its code lies in `benchmarks/<key>/benchmark.ts` of either side.
   */
  readonly key: string;
  /** Name in mlperf.conf, where that is not the key: `llama2-70b-interactive`, whose nodes serve `llama2-70b`. */
  readonly confName?: string;
  /** One line for people. */
  readonly title: string;
  /** True for a benchmark of MLPerf; false for one that only this project has. */
  readonly isOfficial: boolean;
  /**
   * True where LoadGen makes the samples up, as long and as many as the run says, and the SUT node answers without a
   * model. Default: false.
   */
  readonly isSynthetic?: boolean;
  /** Rounds that have this benchmark in a division that a SUT over a network can be in; absent: it is not MLPerf's. */
  readonly rounds?: readonly Round[];
  /** Samples that a performance run loads (LoadGen: performance_sample_count). */
  readonly performanceSampleCount: number;
  /** True where a response may be output tokens, so that bounds may be set on their times. Default: false. */
  readonly hasTokens?: boolean;
  /** False for a benchmark of MLPerf that has no Server scenario. Default: true. */
  readonly hasServer?: boolean;
  /** Latency bound of the Server scenario at its percentile, where no round is requested. */
  readonly serverTargetLatencyNs: number;
  readonly serverTargetLatencyPercentile: number;
  /** Encodings in which a sample may travel, the default first. Name → what goes on the wire. */
  readonly encodings: Readonly<Record<string, PayloadEncoding>>;
  /**
   * Tensor of a payload of each encoding, for protocols of tensors; absent where the model decides.
   * BYTES is the payload as one element.
   */
  readonly sampleTensors?: Readonly<Record<string, SampleTensor>>;
  /** Tensor of a response there; absent where the model decides. */
  readonly responseTensor?: SampleTensor;
  /** Defaults of settings, as they stand in a file, where samples are larger than those of others. */
  readonly defaults?: Readonly<Partial<Record<BenchmarkDefault, number | string>>>;
  readonly quality: Quality;
  /** Rounds that demand another quality. */
  readonly qualityOfRound?: Partial<Readonly<Record<Round, Quality>>>;
}

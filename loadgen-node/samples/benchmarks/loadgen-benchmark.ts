import type { BenchmarkRules, GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet, PrepareProgress } from '../data-set/data-set.ts';
import type { TokenType } from '../data-set/token-numbers.ts';

/** Settings of made-up samples; undefined: the benchmark's default. */
export interface SyntheticSamples {
  /** Bytes of each payload. */
  readonly sampleBytes: number | undefined;
  readonly sampleCount: number | undefined;
  /** Required bytes of each response. */
  readonly responseBytes: number | undefined;
}

/** A benchmark on the LoadGen node: provides payload bytes of a data set, and scores responses. */
export interface LoadgenBenchmark {
  readonly rules: BenchmarkRules;
  /** True if responses are token ids, whose number type may differ between logs. Default: false. */
  readonly answersInTokens?: boolean;
  /**
   * Opens the data set: its list and files, or first generates them. Checksums are compared later,
   * for all benchmarks (data-set/check-data-set.ts).
   * @param dataFolder The user's own copy; undefined: generated or cached data.
   * @param generated Image set, for a benchmark with drawn data; undefined: the standard set.
   * @param synthetic For a benchmark with made-up samples; ignored by others.
   * @param isScoreOnly True if no sample will be read, so that sample files may be missing.
   * @param tokenType Number type of response tokens in the log; undefined: int32, as SUT nodes
   *   send.
   * @throws MlperfError `ERR_DATA_SET`, `ERR_CACHE`, `ERR_CONFIG_INVALID`
   */
  openDataSet(options: {
    readonly dataFolder: string | undefined;
    readonly cacheFolder: string;
    readonly generated?: GeneratedSet | undefined;
    readonly synthetic?: SyntheticSamples;
    readonly isScoreOnly?: boolean;
    readonly tokenType?: TokenType | undefined;
    readonly onProgress: PrepareProgress;
  }): Promise<DataSet>;
}

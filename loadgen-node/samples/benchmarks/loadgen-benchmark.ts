import type { BenchmarkRules, GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet, PrepareProgress } from '../data-set/data-set.ts';
import type { TokenType } from '../data-set/token-numbers.ts';

/** Settings of samples that a benchmark makes up; undefined: the benchmark's own default. */
export interface SyntheticSamples {
  /** Bytes of each payload. */
  readonly sampleBytes: number | undefined;
  readonly sampleCount: number | undefined;
  /** Bytes that each response must have. */
  readonly responseBytes: number | undefined;
}

/** A benchmark on the LoadGen node: data set in, payload bytes and accuracy out. */
export interface LoadgenBenchmark {
  readonly rules: BenchmarkRules;
  /** True where answers are token ids, of which a log may have several types. Default: false. */
  readonly answersInTokens?: boolean;
  /**
   * Opens the data set: finds its list and its files; makes it first where this benchmark's data is generated.
   * Its checksums are compared afterwards, for all benchmarks alike (data-set/check-data-set.ts).
   * @param dataFolder Folder of the user's own copy; undefined: the generated or cached one.
   * @param generated Which images, of a benchmark whose data longhaul draws; undefined: the standard ones.
   * @param synthetic Of a benchmark whose samples are generated; others have no use for it.
   * @param isScoreOnly True where no sample will be read, so that the files of samples need not be there.
   * @param tokenType Of answers in tokens: their type in the log; undefined: int32, as SUT nodes send them.
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

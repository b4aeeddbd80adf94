import type { BenchmarkRules } from '../../shared/benchmarks/benchmark-row.ts';

/** One response of the accuracy log. */
export interface AccuracyEntry {
  readonly sampleIndex: number;
  /** Response bytes as the SUT sent them. */
  readonly response: Uint8Array;
}

/** What an accuracy script says of a run. */
export interface AccuracyReport {
  /** `top-1`, ... */
  readonly metric: string;
  /** Fraction from 0 to 1. */
  readonly value: number;
  readonly correctCount: number;
  /** Samples that were scored; must be the whole data set in a complete run. */
  readonly sampleCount: number;
}

/** A data set that was found (or made) and checked: payloads by index, and how to score responses. */
export interface DataSet {
  readonly name: string;
  readonly totalSampleCount: number;
  /** Folder in which its files lie. */
  readonly folder: string;
  /**
   * Payload bytes of one sample as they will travel; untimed.
   * @param form `jpeg` (the file as it is) or `raw` (uint8, height x width x channel, RGB).
   * @throws MlperfError `ERR_DATA_SET` naming the file that is missing or broken.
   */
  readPayload(sampleIndex: number, form: string): Promise<Uint8Array>;
  /**
   * Scores the responses of an accuracy run.
   * @throws MlperfError `ERR_DATA_SET` when a response is no answer to this benchmark (wrong length).
   */
  scoreAccuracy(entries: Iterable<AccuracyEntry>): AccuracyReport;
}

/** Tells how far a preparation is: 0 to 1, and what is done now. */
export type PrepareProgress = (fraction: number, what: string) => void;

/** What can be said about samples that a benchmark makes up; undefined: the benchmark's own default. */
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
  /**
   * Opens the data set and checks every file of it against its checksums (the rules want it unchanged
   * at the start of each run); makes it first where this benchmark's data is generated.
   * @param dataFolder Folder of the user's own copy; undefined: the generated or cached one.
   * @param synthetic Of a benchmark whose samples are made up; others have no use for it.
   * @throws MlperfError `ERR_DATA_SET`, `ERR_CACHE`, `ERR_CONFIG_INVALID`
   */
  openDataSet(options: {
    readonly dataFolder: string | undefined;
    readonly cacheFolder: string;
    readonly synthetic?: SyntheticSamples;
    readonly onProgress: PrepareProgress;
  }): Promise<DataSet>;
}

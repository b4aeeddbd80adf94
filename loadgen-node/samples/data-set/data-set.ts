import type { TurnTaker } from '../../../shared/base/async.ts';
import {
  dataSetError,
  describeSystemError,
  MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import type { Quality } from '../../../shared/rules/rows/benchmark-card.ts';

/** One response of the accuracy log. */
export interface AccuracyEntry {
  readonly sampleIndex: number;
  /** Response bytes as sent by the SUT. */
  readonly response: Uint8Array;
}

/** Responses in log order. A large log is streamed: metrics store scores, not responses. */
export type AccuracyEntries = Iterable<AccuracyEntry> | AsyncIterable<AccuracyEntry>;

/** Score of a run by the benchmark's metric. */
export interface AccuracyReport {
  /** Name, such as `top-1`. */
  readonly metric: string;
  /** Fraction from 0 to 1; for a metric with an official script, the number that it prints. */
  readonly value: number;
  /** Further metrics, in the official script's unit; see `Quality.more`. */
  readonly more?: Readonly<Record<string, number>>;
  /** Number of correct samples; absent if the metric is not a share of samples. */
  readonly correctCount?: number;
  /** Scored samples; must be the whole data set in a complete run. */
  readonly sampleCount: number;
  /** Which response to a sample counts, as in the official script; absent: the first. */
  readonly counted?: 'first' | 'last';
  /** Output lines of the official script for this log (accuracy.txt); absent without a script. */
  readonly scriptLine?: string;
  /** Further files of the official script, by path; absent without any. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** A quality target and its source. */
export interface NamedQuality extends Quality {
  /** Name of the reference: `FP32 reference of round v4.1`. */
  readonly source: string;
}

/** An opened and checked data set: payloads by index, and scoring of responses. */
export interface DataSet {
  readonly name: string;
  readonly totalSampleCount: number;
  /** Folder of its files. */
  readonly folder: string;
  /**
   * Its files, relative to the folder, with forward slashes; absent if samples are generated in
   * memory. Other files in the folder are not part of it, and need not be in a checksum list.
   */
  readonly files?: readonly string[];
  /** True if opening it compared every file with the folder's manifest. */
  readonly isManifestChecked?: boolean;
  /** Quality target in place of the benchmark's, for data other than the benchmark's own. */
  readonly quality?: NamedQuality | undefined;
  /**
   * Repetitions of the samples in a performance run's library: sample i is sample i modulo their
   * number, in memory once. Accuracy runs have each sample once. Absent: 1.
   */
  readonly performanceRepeats?: number;
  /** Bytes that {@link readPayload} will return; absent if unknown in advance. */
  readonly payloadBytes?: (sampleIndex: number, form: string) => number;
  /** True if a response is correct for a sample, where exact bytes are known. Absent: unknown. */
  readonly isRight?: (sampleIndex: number, response: Uint8Array) => boolean;
  /** Notes on this data for readers of a result. */
  readonly marks?: readonly string[];
  /**
   * Payload of one sample as sent; untimed.
   * @param form `jpeg` (the unchanged file) or `raw` (uint8, height x width x channel, RGB).
   * @throws MlperfError `ERR_DATA_SET` with the missing or broken file.
   */
  readPayload(sampleIndex: number, form: string): Promise<Uint8Array>;
  /**
   * Scores the responses of an accuracy run.
   * @param turns For metrics that need seconds after the last entry; default: their own.
   * @throws MlperfError `ERR_DATA_SET` if a response does not fit this benchmark (wrong length),
   *   and errors of `turns`.
   */
  scoreAccuracy(entries: AccuracyEntries, turns?: TurnTaker): Promise<AccuracyReport>;
}

/** Reports the progress of a preparation: 0 to 1, and the current activity. */
export type PrepareProgress = (fraction: number, what: string) => void;

/**
 * Reads a file or a folder of a data set.
 * @returns The result of `read`; if the file cannot be read, the error names its path.
 * @throws MlperfError `ERR_DATA_SET`, and errors of `read` with other codes
 */
export async function readingFile<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
  }
}

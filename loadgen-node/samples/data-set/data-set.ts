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
  /** Response bytes as the SUT sent them. */
  readonly response: Uint8Array;
}

/** Responses in the order of their log. A large log comes response by response: a metric keeps scores. */
export type AccuracyEntries = Iterable<AccuracyEntry> | AsyncIterable<AccuracyEntry>;

/** Score of a run by the benchmark's metric. */
export interface AccuracyReport {
  /** `top-1`, ... */
  readonly metric: string;
  /** Fraction from 0 to 1; of a metric with an official script the number that the script prints. */
  readonly value: number;
  /** Further metrics, in the unit in which the official script prints them; see `Quality.more`. */
  readonly more?: Readonly<Record<string, number>>;
  /** Samples that are right; absent where the metric is no share of samples. */
  readonly correctCount?: number;
  /** Samples that were scored; must be the whole data set in a complete run. */
  readonly sampleCount: number;
  /** Which of several responses to one sample counts, as in the official script; absent: the first. */
  readonly counted?: 'first' | 'last';
  /** Lines of the benchmark's official script for this log (accuracy.txt); absent without one. */
  readonly scriptLine?: string;
  /** Files that the official script writes beside it, by path; absent without any. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** A quality and whose it is. */
export interface NamedQuality extends Quality {
  /** Name of the reference, for people: `FP32 reference of round v4.1`. */
  readonly source: string;
}

/** A data set that was found (or made) and checked: payloads by index, and how to score responses. */
export interface DataSet {
  readonly name: string;
  readonly totalSampleCount: number;
  /** Folder in which its files lie. */
  readonly folder: string;
  /**
   * Its files, relative to the folder, with forward slashes; absent where samples are generated in memory. Other files in
   * the folder do not belong to it: no list of checksums needs to have them.
   */
  readonly files?: readonly string[];
  /** True where opening it has compared every file with the folder's manifest. */
  readonly isManifestChecked?: boolean;
  /** Quality that holds in place of the benchmark's, for data that is not the benchmark's own. */
  readonly quality?: NamedQuality | undefined;
  /**
   * How often the library of a performance run has the samples, one round behind the other: its sample i is sample i modulo
   * their number, and lies in memory once. Accuracy runs have each sample once. Absent: 1.
   */
  readonly performanceRepeats?: number;
  /** Bytes that {@link readPayload} will give; absent where that is not known before. */
  readonly payloadBytes?: (sampleIndex: number, form: string) => number;
  /** Whether a response is that of a sample, where its bytes are known. Absent: not known. */
  readonly isRight?: (sampleIndex: number, response: Uint8Array) => boolean;
  /** Notes on this data for readers of a result. */
  readonly marks?: readonly string[];
  /**
   * Payload bytes of one sample as they will travel; untimed.
   * @param form `jpeg` (the file as it is) or `raw` (uint8, height x width x channel, RGB).
   * @throws MlperfError `ERR_DATA_SET` naming the file that is missing or broken.
   */
  readPayload(sampleIndex: number, form: string): Promise<Uint8Array>;
  /**
   * Scores the responses of an accuracy run.
   * @param turns Are taken by a metric that needs seconds behind the last entry; default: of its own.
   * @throws MlperfError `ERR_DATA_SET` when a response is no answer to this benchmark (wrong length), and what `turns` throw.
   */
  scoreAccuracy(entries: AccuracyEntries, turns?: TurnTaker): Promise<AccuracyReport>;
}

/** Tells how far a preparation is: 0 to 1, and what is done now. */
export type PrepareProgress = (fraction: number, what: string) => void;

/**
 * Reads a file or a folder of a data set.
 * @returns What `read` gives; the error of a file that cannot be read names its path.
 * @throws MlperfError `ERR_DATA_SET`, and any other code that `read` throws
 */
export async function readingFile<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
  }
}

import type { RngLibrary } from '../random/distributions.ts';

/**
 * Where the LoadGens of the rounds differ, as data: the algorithm reads these, never a version.
 * Source: the differences that runs of both LoadGens showed (test/golden/README.md).
 */
export interface LoadgenBehaviour {
  /** Version of the C++ LoadGen that is followed, as its log names it. */
  readonly version: string;
  /** C++ library that built the LoadGen: it decides the sample order. */
  readonly rngLibrary: RngLibrary;
  /** Which samples are shuffled into sets: the whole library, or only as many as a run uses. */
  readonly setsFrom: 'whole-library' | 'used-samples';
  /** True if `accuracySampleCountOverride` is read and the accuracy sample count is logged. */
  readonly knowsAccuracySampleCount: boolean;
  /**
   * Offline with concatenated permutations whose query is already a whole number of sets: true if
   * one query per sample of the set is generated. Only the first is ever issued.
   */
  readonly repeatsWholeOfflineQuery: boolean;
  /** True if the log names the padded size of a concatenated Offline query, false if the setting. */
  readonly logsPaddedQuerySize: boolean;
  /** Decimals of the target percentile in the texts. */
  readonly percentileLabelDecimals: 0 | 1;
  /** True if the summary warns about concatenated permutations. */
  readonly warnsAboutConcatenation: boolean;
  /** True if the detail log ends with `num_errors`. */
  readonly logsErrorCount: boolean;
}

/** LoadGen of round v4.1, the default round. */
export const LOADGEN_V41: LoadgenBehaviour = {
  version: '4.1',
  rngLibrary: 'libstdc++-11',
  setsFrom: 'whole-library',
  knowsAccuracySampleCount: false,
  repeatsWholeOfflineQuery: true,
  logsPaddedQuerySize: false,
  percentileLabelDecimals: 0,
  warnsAboutConcatenation: false,
  logsErrorCount: false,
};

/** LoadGen of round v6.1. */
export const LOADGEN_V61: LoadgenBehaviour = {
  version: '6.0.17',
  rngLibrary: 'libstdc++-11',
  setsFrom: 'used-samples',
  knowsAccuracySampleCount: true,
  repeatsWholeOfflineQuery: false,
  logsPaddedQuerySize: true,
  percentileLabelDecimals: 1,
  warnsAboutConcatenation: true,
  logsErrorCount: true,
};

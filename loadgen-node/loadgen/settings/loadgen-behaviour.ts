import type { Round } from '../../../shared/rules/rounds/rounds.ts';

import type { RngLibrary } from '../random/distributions.ts';

/**
 * Differences between the LoadGens of the rounds, as data: the algorithm reads these, never a
 * version. Source: differences seen in runs of both LoadGens (test/golden/README.md).
 */
export interface LoadgenBehaviour {
  /** Version of the C++ LoadGen to follow, as in its log. */
  readonly version: string;
  /** C++ library that built this LoadGen: it decides the sample order. */
  readonly rngLibrary: RngLibrary;
  /** Samples that are shuffled into sets: the whole library, or only as many as a run uses. */
  readonly setsFrom: 'whole-library' | 'used-samples';
  /** True if `accuracySampleCountOverride` is read and the accuracy sample count is logged. */
  readonly knowsAccuracySampleCount: boolean;
  /**
   * Offline with concatenated permutations if the query is already a whole number of sets: true if
   * one query per sample of the set is generated. Only the first is ever issued.
   */
  readonly repeatsWholeOfflineQuery: boolean;
  /**
   * True if the log states the padded size of a concatenated Offline query; false if the setting.
   */
  readonly logsPaddedQuerySize: boolean;
  /** Decimals of the target percentile in texts. */
  readonly percentileLabelDecimals: 0 | 1;
  /** Summary label of the minimum, maximum and mean time of one output token. */
  readonly outputTokenLabel: 'Time to Output Token' | 'Time per Output Token';
  /** True if the summary warns about concatenated permutations. */
  readonly warnsAboutConcatenation: boolean;
  /** When MultiStream's next query goes out: when the last completes, or at fixed intervals. */
  readonly multiStreamArrivals: 'closed-loop' | 'interval';
  /** True if validity also needs early stopping's confidence. */
  readonly hasEarlyStopping: boolean;
  /** True if the detail log ends with `num_errors`. */
  readonly logsErrorCount: boolean;
  /**
   * How configuration files are read. `plain`: no built-in file, all files are equal and each is
   * read by itself. `built-in`: the round's mlperf.conf comes first, and only it may set seeds and
   * test05; a second user file is logged as an error.
   */
  readonly configFiles: 'plain' | 'built-in';
}

/** LoadGen of round v4.1, the default round. */
export const LOADGEN_V41: LoadgenBehaviour = {
  version: '4.1',
  multiStreamArrivals: 'closed-loop',
  hasEarlyStopping: true,
  rngLibrary: 'libstdc++-11',
  setsFrom: 'whole-library',
  knowsAccuracySampleCount: false,
  repeatsWholeOfflineQuery: true,
  logsPaddedQuerySize: false,
  percentileLabelDecimals: 0,
  outputTokenLabel: 'Time to Output Token',
  warnsAboutConcatenation: false,
  logsErrorCount: false,
  configFiles: 'plain',
};

/** LoadGen of round v0.5: its scenario rules on v4.1's primitives. */
const LOADGEN_V05: LoadgenBehaviour = {
  ...LOADGEN_V41,
  version: '0.5',
  multiStreamArrivals: 'interval',
  hasEarlyStopping: false,
};

/** LoadGen of round v5.0, which introduced the built-in mlperf.conf and Offline's special case. */
const LOADGEN_V50: LoadgenBehaviour = {
  ...LOADGEN_V41,
  version: '5.0.11',
  repeatsWholeOfflineQuery: false,
  logsPaddedQuerySize: true,
  warnsAboutConcatenation: true,
  configFiles: 'built-in',
};

/**
 * LoadGen of round v5.1, at tag v5.1.1: percentiles with one decimal, and the error count. Tag v5.1
 * (5.0.22) has the older token label.
 */
const LOADGEN_V51: LoadgenBehaviour = {
  ...LOADGEN_V50,
  version: '5.1.1',
  outputTokenLabel: 'Time per Output Token',
  percentileLabelDecimals: 1,
  logsErrorCount: true,
};

/** LoadGen of round v6.0: draws sets from the samples that a run uses, not the whole library. */
const LOADGEN_V60: LoadgenBehaviour = {
  ...LOADGEN_V51,
  version: '6.0.15',
  setsFrom: 'used-samples',
  knowsAccuracySampleCount: true,
};

/** LoadGen of round v6.1. */
export const LOADGEN_V61: LoadgenBehaviour = { ...LOADGEN_V60, version: '6.0.17' };

const LOADGENS: Readonly<Record<Round, LoadgenBehaviour>> = {
  'v0.5': LOADGEN_V05,
  'v4.1': LOADGEN_V41,
  'v5.0': LOADGEN_V50,
  'v5.1': LOADGEN_V51,
  'v6.0': LOADGEN_V60,
  'v6.1': LOADGEN_V61,
};

/** LoadGen that a round was run with. */
export function loadgenOf(round: Round): LoadgenBehaviour {
  return LOADGENS[round];
}

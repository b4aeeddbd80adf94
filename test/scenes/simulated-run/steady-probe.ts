/** Searches whose probes are made by hand. */
import type {
  FullRunRule,
  LoadSearch,
  ProbeEnd,
  ProbeOutcome,
} from '../../../loadgen-node/search/peak/peak-search.ts';

export const RULE: FullRunRule = {
  ...{ runs: 1, minDurationNs: 90e9, minQueryCount: 662 },
  ...{ hasEarlyStopping: true, loadsMax: 8 },
};

export function searchOf(boundNs: number, other: Partial<LoadSearch> = {}): LoadSearch {
  return {
    kind: 'rate',
    boundNs,
    percentile: 0.99,
    startLoad: undefined,
    loadMax: 1e6,
    precision: 0.01,
    confidence: 0.95,
    screeningNsMax: 120e9,
    full: RULE,
    ...other,
  };
}

export const END: ProbeEnd = {
  endCause: 'all-issued',
  counts: { lostSamples: 0, issuedSamples: 1000 },
  durationNs: 1e9,
  isGeneratorBound: false,
  generatorBoundReason: '',
  faultText: null,
};

/** Thousand queries of one latency. */
export function steady(latencyNs: number, other: Partial<ProbeOutcome> = {}): ProbeOutcome {
  return {
    latenciesNs: new Float64Array(1000).fill(latencyNs),
    end: END,
    samplesPerSecond: 1000,
    ...{ scheduledPerSecond: null, lagP99Ns: 0 },
    isValid: true,
    reasons: [],
    explanation: undefined,
    folder: undefined,
    ...other,
  };
}

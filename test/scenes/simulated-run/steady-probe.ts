/** Searches whose probes are made by hand. */
import type { SearchAbout } from '../../../loadgen-node/search/kept-file.ts';
import type {
  FullRunRule,
  LoadSearch,
  PeakProbe,
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

/** A screening that kept its bound. */
export function keptProbe(number: number, load: number): PeakProbe {
  const bound = { name: 'latency', overQueries: 0, varianceFactor: 1 } as const;
  return {
    ...{ number, kind: 'screening', load, verdict: 'keeps', why: 'VALID', queries: 1000 },
    bounds: [{ ...bound, shareLow: 0, shareHigh: 0.004, percentileNs: 4e6 }],
    ...{ meanNs: 2e6, tokens: null, goodput: null, lagP99Ns: 1e5, lostSamples: 0 },
    latencies: [{ percentile: 0.99, valueNs: 4e6, lowNs: 3e6, highNs: null }],
    ...{ samplesPerSecond: load, scheduledPerSecond: load, growth: null, durationNs: 2e9 },
    ...{ explanation: null, folder: null },
  };
}

/** The look at one query at a time. */
export function unloaded(): PeakProbe {
  return { ...keptProbe(0, 1), kind: 'unloaded', verdict: 'undecided' };
}

/** Words about a search that began then. */
export function aboutOf(startedAt: string, other: Partial<SearchAbout> = {}): SearchAbout {
  const said = { longhaul: '0.1.0', benchmark: 'delay', scenario: 'Server', labels: {} } as const;
  return { startedAt, ...said, ...other };
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

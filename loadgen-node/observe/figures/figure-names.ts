/** Unit of a figure. A share is 0 to 1. */
export type FigureUnit = 'ns' | '1/s' | 'count' | 'share';

/** Names of all figures, in the order of tables. */
export const FIGURE_NAMES = [
  'min',
  'mean',
  'p50',
  'p90',
  'p95',
  'p97',
  'p99',
  'p99.9',
  'max',
  'lag_p50',
  'lag_p99',
  'lag_max',
  'ttft_p50',
  'ttft_p99',
  'tpot_p50',
  'tpot_p99',
  'scheduled_qps',
  'completed_qps',
  'tokens_per_second',
  'queries',
  'samples',
  'overlatency',
  'lost',
  'errors',
] as const;

/** Name of a figure. */
export type FigureName = (typeof FIGURE_NAMES)[number];

/** Figures that are percentiles, and which, from 0 to 1. */
export type PercentileFigures<N extends FigureName = FigureName> = readonly (readonly [
  name: N,
  percentile: number,
])[];

export type LatencyPercentile = 'p50' | 'p90' | 'p95' | 'p97' | 'p99' | 'p99.9';

export const LATENCY_PERCENTILES: PercentileFigures<LatencyPercentile> = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p97', 0.97],
  ['p99', 0.99],
  ['p99.9', 0.999],
];

export const LAG_PERCENTILES: PercentileFigures<'lag_p50' | 'lag_p99'> = [
  ['lag_p50', 0.5],
  ['lag_p99', 0.99],
];

/** To the first token. */
export const TTFT_PERCENTILES: PercentileFigures<'ttft_p50' | 'ttft_p99'> = [
  ['ttft_p50', 0.5],
  ['ttft_p99', 0.99],
];

/** Per output token after the first. */
export const TPOT_PERCENTILES: PercentileFigures<'tpot_p50' | 'tpot_p99'> = [
  ['tpot_p50', 0.5],
  ['tpot_p99', 0.99],
];

/** A figure of a run: its unit, and what it is, for people. */
interface FigureKind {
  readonly unit: FigureUnit;
  readonly about: string;
  /** True where more is better; null where neither is. */
  readonly moreIsBetter: boolean | null;
}

function latency(about: string): FigureKind {
  return { unit: 'ns', about, moreIsBetter: false };
}

function rate(about: string): FigureKind {
  return { unit: '1/s', about, moreIsBetter: true };
}

/**
 * Figures of a performance run by the names that thresholds, comparisons and the summary use. All follow from the records
 * alone (observe/records). Latencies are of queries (MultiStream: of whole queries; Offline: of samples), completed - scheduled.
 */
export const FIGURES: Readonly<Record<FigureName, FigureKind>> = {
  min: latency('smallest latency'),
  mean: latency('mean latency'),
  p50: latency('median latency'),
  p90: latency('latency at the 90th percentile'),
  p95: latency('latency at the 95th percentile'),
  p97: latency('latency at the 97th percentile'),
  p99: latency('latency at the 99th percentile'),
  'p99.9': latency('latency at the 99.9th percentile'),
  max: latency('largest latency'),
  lag_p50: latency('median dispatch lag: issued - scheduled'),
  lag_p99: latency('dispatch lag at the 99th percentile'),
  lag_max: latency('largest dispatch lag'),
  ttft_p50: latency('median time to the first token'),
  ttft_p99: latency('time to the first token at the 99th percentile'),
  tpot_p50: latency('median time per output token after the first'),
  tpot_p99: latency('time per output token at the 99th percentile'),
  scheduled_qps: rate('Server: samples per second by the schedule'),
  completed_qps: rate('completed samples per second'),
  tokens_per_second: rate('completed output tokens per second'),
  queries: { unit: 'count', about: 'queries issued', moreIsBetter: null },
  samples: { unit: 'count', about: 'samples issued', moreIsBetter: null },
  overlatency: {
    unit: 'share',
    about: 'Server: share of the answered queries above the latency bound',
    moreIsBetter: false,
  },
  lost: { unit: 'count', about: 'samples without a response', moreIsBetter: false },
  errors: {
    unit: 'count',
    about: 'samples without a response, and responses that broke the contract',
    moreIsBetter: false,
  },
};

/** Figures that a run has; one that its scenario or model does not know is absent. */
export type RunFigures = { readonly [K in FigureName]?: number };

/** Those that are finite numbers, in the order of tables: no 0 and no infinity stands for "not measured". */
export function finiteFigures(figures: RunFigures): RunFigures {
  const kept: Partial<Record<FigureName, number>> = {};
  for (const name of FIGURE_NAMES) {
    const value = figures[name];
    if (value !== undefined && Number.isFinite(value)) kept[name] = value;
  }
  return kept;
}

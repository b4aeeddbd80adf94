/** Unit of a figure. A share is 0 to 1. */
export type FigureUnit = 'ns' | '1/s' | 'count' | 'share';

/** Unit and description of a figure of a run. */
export interface FigureKind {
  readonly unit: FigureUnit;
  readonly about: string;
  /** True if a higher value is better; null if neither direction is better. */
  readonly moreIsBetter: boolean | null;
}

const latency = (about: string): FigureKind => ({ unit: 'ns', about, moreIsBetter: false });
const rate = (about: string): FigureKind => ({ unit: '1/s', about, moreIsBetter: true });
const issued = (about: string): FigureKind => ({ unit: 'count', about, moreIsBetter: null });
const failed = (about: string): FigureKind => ({ unit: 'count', about, moreIsBetter: false });

/**
 * Figures of a run by the names used in thresholds, comparisons and the summary, in table order.
 * All except accuracy are performance figures and follow from the records alone (observe/records).
 * Latencies are per query (MultiStream: whole queries; Offline: samples), completed - scheduled.
 */
export const FIGURES = {
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
  ttft_p90: latency('time to the first token at the 90th percentile'),
  ttft_p99: latency('time to the first token at the 99th percentile'),
  tpot_p50: latency('median time per output token after the first'),
  tpot_p90: latency('time per output token at the 90th percentile'),
  tpot_p99: latency('time per output token at the 99th percentile'),
  itl_p50: latency('median inter-token latency: from one token of a sample to the next'),
  itl_p90: latency('inter-token latency at the 90th percentile'),
  itl_p99: latency('inter-token latency at the 99th percentile'),
  itl_max: latency('largest inter-token latency'),
  longest_gap_p50: latency("median of the samples' largest inter-token latencies"),
  longest_gap_p99: latency("99th percentile of the samples' largest inter-token latencies"),
  scheduled_qps: rate('Server: samples per second by the schedule'),
  answered_qps: rate('Server: completed samples per second until the last of them was'),
  completed_qps: rate(
    'completed samples per second; Server: until that of the last query was, as LoadGen says',
  ),
  tokens_per_second: rate('completed output tokens per second'),
  goodput_qps: rate('Server: samples per second that were completed within every bound'),
  goodput_tokens_per_second: rate('Server: output tokens per second of those samples'),
  queries: issued('queries issued'),
  samples: issued('samples issued'),
  overlatency: {
    ...failed('Server: share of the answered queries above the latency bound'),
    unit: 'share',
  },
  goodput: {
    ...rate('Server: share of the issued samples that were completed within every bound'),
    unit: 'share',
  },
  accuracy: { ...rate('accuracy of a run of mode accuracy or submission'), unit: 'share' },
  lost: failed('samples without a response'),
  errors: failed('samples without a response, and responses that broke the contract'),
} as const satisfies Readonly<Record<string, FigureKind>>;

/** Name of a figure. */
export type FigureName = keyof typeof FIGURES;

export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

/** Percentile figures, each with its percentile as a fraction. */
export type PercentileFigures<N extends FigureName = FigureName> = readonly (readonly [
  name: N,
  percentile: number,
])[];

export const LATENCY_PERCENTILES = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p97', 0.97],
  ['p99', 0.99],
  ['p99.9', 0.999],
] as const satisfies PercentileFigures;

export const LAG_PERCENTILES = [
  ['lag_p50', 0.5],
  ['lag_p99', 0.99],
] as const satisfies PercentileFigures;

/** Time to first token. */
export const TTFT_PERCENTILES = [
  ['ttft_p50', 0.5],
  ['ttft_p90', 0.9],
  ['ttft_p99', 0.99],
] as const satisfies PercentileFigures;

/** Time per output token after the first. */
export const TPOT_PERCENTILES = [
  ['tpot_p50', 0.5],
  ['tpot_p90', 0.9],
  ['tpot_p99', 0.99],
] as const satisfies PercentileFigures;

/** Gaps between tokens, over all gaps; within 0.4 % of the value. */
export const GAP_PERCENTILES = [
  ['itl_p50', 0.5],
  ['itl_p90', 0.9],
  ['itl_p99', 0.99],
] as const satisfies PercentileFigures;

/** Longest gap of each sample. */
export const LONGEST_GAP_PERCENTILES = [
  ['longest_gap_p50', 0.5],
  ['longest_gap_p99', 0.99],
] as const satisfies PercentileFigures;

/** Figures of a run; those that its scenario or model lacks are absent. */
export type RunFigures = { readonly [K in FigureName]?: number };

/**
 * Only plausible figures, in table order: without infinities ("not measured"), negative times
 * (LoadGen's time per token below 2 tokens), and first tokens at 0 (LoadGen's value for a missing
 * first token).
 */
export function possibleFigures(figures: RunFigures): RunFigures {
  const known = FIGURE_NAMES.filter((name) => {
    const value = figures[name] ?? Number.NaN;
    if (name.startsWith('ttft_') && value <= 0) return false;
    return Number.isFinite(value) && (FIGURES[name].unit !== 'ns' || value >= 0);
  });
  return Object.fromEntries(known.map((name) => [name, figures[name]]));
}

/** Without rates: if the SUT was gone before the end, rates would include time without it. */
export function withoutRates(figures: RunFigures): RunFigures {
  return Object.fromEntries(
    Object.entries(figures).filter(([name]) => FIGURES[name as FigureName].unit !== '1/s'),
  );
}

import { z } from 'zod';
import { formatNs } from '../../../shared/base/text.ts';
import {
  type BoundName,
  type BoundTimes,
  namedBounds,
  type QueryBound,
} from '../../loadgen/settings/query-bounds.ts';

/** A latency percentile with its 95 % interval. */
export const LATENCY_FIGURE = z.strictObject({
  /** As a fraction, 0 to 1. */
  percentile: z.number().gt(0).lt(1),
  valueNs: z.number(),
  lowNs: z.number(),
  /** Upper end of the interval; null if too few queries were slower than the percentile. */
  highNs: z.number().nullable(),
});
export type LatencyFigure = Readonly<z.infer<typeof LATENCY_FIGURE>>;

/** Tokens per second at a load, with percentiles of both token times. */
export const TOKEN_FIGURES = z.strictObject({
  /** Completed output tokens per second: the metric of token models. */
  perSecond: z.number().min(0),
  ttft: z.array(LATENCY_FIGURE),
  tpot: z.array(LATENCY_FIGURE),
});

/** Queries completed within every bound, with latency from the schedule. */
export const GOODPUT = z.strictObject({
  /** Share of the issued samples, 0 to 1. */
  share: z.number().min(0).max(1),
  samplesPerSecond: z.number().min(0),
  /** Null without a token model. */
  tokensPerSecond: z.number().min(0).nullable(),
});
export type Goodput = Readonly<z.infer<typeof GOODPUT>>;

/** Figures of one load. */
export const LOAD_POINT = z.strictObject({
  /** Number among the points of its curve. */
  number: z.int().min(0),
  /** Requested load: queries per second, concurrent queries, or streams. */
  load: z.number().positive(),
  /** Rate of the drawn schedule; null without one. */
  scheduledPerSecond: z.number().min(0).nullable(),
  /** Completed samples per second. */
  samplesPerSecond: z.number().min(0),
  /** 95 % interval of `samplesPerSecond` in a closed loop; elsewhere the load decides the rate. */
  rateInterval: z.strictObject({ low: z.number(), high: z.number() }).nullable(),
  /** Queries behind the latencies. */
  queries: z.int().min(0),
  lostSamples: z.int().min(0),
  /** Ascending percentiles; empty if no query completed. */
  latencies: z.array(LATENCY_FIGURE),
  /** Null without a token model. */
  tokens: TOKEN_FIGURES.nullable(),
  /** Null if no query completed. */
  goodput: GOODPUT.nullable(),
  meanNs: z.number(),
  /** p99 of LoadGen's dispatch lag; 0 in a closed loop, which has no schedule. */
  lagP99Ns: z.number(),
  /** True if LoadGen was too slow for this load. */
  isGeneratorBound: z.boolean(),
  /**
   * True if the queue grew all through: the load exceeds the SUT's capacity, and latencies grow
   * with the point's duration.
   */
  isOverloaded: z.boolean(),
  /** Problem of the point; empty without one. */
  why: z.string(),
  durationNs: z.number().min(0),
  /** Where the time of the slow queries went; null if unknown. */
  explanation: z.string().nullable(),
  /** Work of the SUT for other clients at the time, if it was much; absent otherwise. */
  others: z.exactOptional(z.string()),
});
export type LoadPoint = Readonly<z.infer<typeof LOAD_POINT>>;

/** Files of a curve in its folder, beside its pictures. */
export const CURVE_FILES = { page: 'longhaul_curve.html', table: 'curve.csv' } as const;

/** Pictures of a curve, one for each bounded time. */
export const CURVE_PICTURES: Readonly<Record<BoundName, string>> = {
  latency: 'curve.svg',
  ttft: 'curve.svg',
  tpot: 'curve-tpot.svg',
};

/** All files of a curve, in words. */
export function curveFilesText(bounds: BoundTimes): string {
  const pictures = namedBounds(bounds).map(({ name }) => CURVE_PICTURES[name]);
  return [...Object.values(CURVE_FILES), ...pictures].join(', ');
}

/** Unit of the load. */
export type LoadUnit = 'queries/s' | 'queries at a time' | 'streams';

/** Points of one SUT at rising loads, and the bounds to compare with. */
export interface MeasuredCurve extends BoundTimes {
  readonly unit: LoadUnit;
  /** In measured order. */
  readonly points: readonly LoadPoint[];
}

/** The points in load order. */
export function byLoad({ points }: Pick<MeasuredCurve, 'points'>): LoadPoint[] {
  return [...points].sort((a, b) => a.load - b.load || a.number - b.number);
}

/** Names of bounded times, for people. */
export const BOUND_TITLES: Readonly<Record<BoundName, string>> = {
  latency: 'latency',
  ttft: 'TTFT',
  tpot: 'TPOT',
};

/** Bounds as text: `100 ms`, or `TTFT 450 ms or TPOT 40 ms`. */
export function boundsText(bounds: readonly QueryBound[], joint: 'and' | 'or'): string {
  return bounds
    .map(({ name, ns }) => `${name === 'latency' ? '' : `${BOUND_TITLES[name]} `}${formatNs(ns)}`)
    .join(` ${joint} `);
}

/** Percentiles of a bounded time. */
export function timesOf(
  { latencies, tokens }: Pick<LoadPoint, 'latencies' | 'tokens'>,
  name: BoundName,
): readonly LatencyFigure[] {
  return name === 'latency' ? latencies : (tokens?.[name] ?? []);
}

/** A percentile of a point; undefined if it has too few queries. */
export function figureAt(
  point: Pick<LoadPoint, 'latencies' | 'tokens'>,
  percentile: number,
  name: BoundName = 'latency',
): LatencyFigure | undefined {
  return timesOf(point, name).find((one) => one.percentile === percentile);
}

/** Throughput of a point: tokens per second if counted, else samples per second. */
export function completedRate({ tokens, samplesPerSecond }: LoadPoint): number {
  return tokens?.perSecond ?? samplesPerSecond;
}

/** Unit of {@link completedRate}. */
export function throughputUnit({ tpotNs }: Pick<BoundTimes, 'tpotNs'>): 'samples' | 'tokens' {
  return tpotNs === undefined ? 'samples' : 'tokens';
}

/** Bounds that a point exceeds at the percentile. */
export function missedBounds(
  bounds: BoundTimes,
  point: Pick<LoadPoint, 'latencies' | 'tokens'>,
): QueryBound[] {
  return namedBounds(bounds).filter(
    ({ name, ns, percentile }) => (figureAt(point, percentile, name)?.valueNs ?? 0) > ns,
  );
}

/** True if a point kept every bound; undefined if no query completed. */
export function keepsBound(bounds: BoundTimes, point: LoadPoint): boolean | undefined {
  const kept = namedBounds(bounds).map(({ name, ns, percentile }) => {
    const figure = figureAt(point, percentile, name);
    return figure && figure.valueNs <= ns;
  });
  if (kept.includes(undefined)) return point.lostSamples > 0 ? false : undefined;
  return kept.every(Boolean) && !point.isOverloaded && point.lostSamples === 0;
}

import { z } from 'zod';
import { formatNs } from '../../../shared/base/text.ts';
import {
  type BoundName,
  type BoundTimes,
  namedBounds,
  type QueryBound,
} from '../../loadgen/settings/query-bounds.ts';

/** A percentile of latency, with the interval that holds it at 95 %. */
export const LATENCY_FIGURE = z.strictObject({
  /** 0 to 1. */
  percentile: z.number().gt(0).lt(1),
  valueNs: z.number(),
  lowNs: z.number(),
  /** Null: too few queries are slower to tell. */
  highNs: z.number().nullable(),
});
export type LatencyFigure = Readonly<z.infer<typeof LATENCY_FIGURE>>;

/** Tokens per second at a load, with the percentiles of their two times. */
export const TOKEN_FIGURES = z.strictObject({
  /** Completed output tokens per second: the metric of token models. */
  perSecond: z.number().min(0),
  ttft: z.array(LATENCY_FIGURE),
  tpot: z.array(LATENCY_FIGURE),
});

/** Queries completed within every bound, counted from the schedule. */
export const GOODPUT = z.strictObject({
  /** Of the issued samples, 0 to 1. */
  share: z.number().min(0).max(1),
  samplesPerSecond: z.number().min(0),
  /** Null: no token model. */
  tokensPerSecond: z.number().min(0).nullable(),
});
export type Goodput = Readonly<z.infer<typeof GOODPUT>>;

/** Figures of one load. */
export const LOAD_POINT = z.strictObject({
  /** Among the points of its curve. */
  number: z.int().min(0),
  /** Requested: queries per second, queries at a time, or streams. */
  load: z.number().positive(),
  /** By the schedule that was drawn; null where queries have no schedule. */
  scheduledPerSecond: z.number().min(0).nullable(),
  /** Completed samples per second. */
  samplesPerSecond: z.number().min(0),
  /** Interval of `samplesPerSecond` at 95 %, in a closed loop: elsewhere the load decides it. */
  rateInterval: z.strictObject({ low: z.number(), high: z.number() }).nullable(),
  /** Queries that the latencies are made from. */
  queries: z.int().min(0),
  lostSamples: z.int().min(0),
  /** Rising; empty where no query was completed. */
  latencies: z.array(LATENCY_FIGURE),
  /** Null: no token model. */
  tokens: TOKEN_FIGURES.nullable(),
  /** Null where no query was completed. */
  goodput: GOODPUT.nullable(),
  meanNs: z.number(),
  /** p99 of LoadGen's own lateness; 0 in a closed loop, which has no schedule. */
  lagP99Ns: z.number(),
  /** LoadGen was too slow for this load. */
  isGeneratorBound: z.boolean(),
  /** The queue grew all through: the SUT does not complete so much, and latencies grow with the length of the point. */
  isOverloaded: z.boolean(),
  /** The fault of the point, in words; empty: it has none. */
  why: z.string(),
  durationNs: z.number().min(0),
  /** Where the time of the slow queries went; null where that is not known. */
  explanation: z.string().nullable(),
  /** Work of the SUT for others meanwhile, where it was much; absent: nothing that is known of. */
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

/** Unit of the loads of a curve. */
export type LoadUnit = 'queries/s' | 'queries at a time' | 'streams';

/** Points of one SUT under rising loads, and the bound that they are compared with. */
export interface MeasuredCurve extends BoundTimes {
  readonly unit: LoadUnit;
  /** In the order in which they were measured. */
  readonly points: readonly LoadPoint[];
}

/** The points by their load. */
export function byLoad({ points }: Pick<MeasuredCurve, 'points'>): LoadPoint[] {
  return [...points].sort((a, b) => a.load - b.load || a.number - b.number);
}

/** Names of bounded times, for people. */
export const BOUND_TITLES: Readonly<Record<BoundName, string>> = {
  latency: 'latency',
  ttft: 'TTFT',
  tpot: 'TPOT',
};

/** Bounds in words: `100 ms`, or `TTFT 450 ms or TPOT 40 ms`. */
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

/** A percentile of a point; undefined where it has too few queries for it. */
export function figureAt(
  point: Pick<LoadPoint, 'latencies' | 'tokens'>,
  percentile: number,
  name: BoundName = 'latency',
): LatencyFigure | undefined {
  return timesOf(point, name).find((one) => one.percentile === percentile);
}

/** Throughput of a point: tokens per second where they are counted, else samples. */
export function completedRate({ tokens, samplesPerSecond }: LoadPoint): number {
  return tokens?.perSecond ?? samplesPerSecond;
}

/** Unit of {@link completedRate}. */
export function throughputUnit({ tpotNs }: Pick<BoundTimes, 'tpotNs'>): 'samples' | 'tokens' {
  return tpotNs === undefined ? 'samples' : 'tokens';
}

/** Bounds above which a point is at the percentile. */
export function missedBounds(
  bounds: BoundTimes,
  point: Pick<LoadPoint, 'latencies' | 'tokens'>,
): QueryBound[] {
  return namedBounds(bounds).filter(
    ({ name, ns, percentile }) => (figureAt(point, percentile, name)?.valueNs ?? 0) > ns,
  );
}

/** Whether a point kept every bound; undefined where no query was completed. */
export function keepsBound(bounds: BoundTimes, point: LoadPoint): boolean | undefined {
  const kept = namedBounds(bounds).map(({ name, ns, percentile }) => {
    const figure = figureAt(point, percentile, name);
    return figure && figure.valueNs <= ns;
  });
  if (kept.includes(undefined)) return point.lostSamples > 0 ? false : undefined;
  return kept.every(Boolean) && !point.isOverloaded && point.lostSamples === 0;
}

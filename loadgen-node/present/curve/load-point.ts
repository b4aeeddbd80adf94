import { z } from 'zod';

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
});
export type LoadPoint = Readonly<z.infer<typeof LOAD_POINT>>;

/** Files of a curve in its folder. */
export const CURVE_FILES = {
  page: 'longhaul_curve.html',
  table: 'curve.csv',
  picture: 'curve.svg',
} as const;

/** Unit of the loads of a curve. */
export type LoadUnit = 'queries/s' | 'queries at a time' | 'streams';

/** Points of one SUT under rising loads, and the bound that they are compared with. */
export interface MeasuredCurve {
  readonly unit: LoadUnit;
  readonly boundNs: number;
  /** 0 to 1: of the bound. */
  readonly percentile: number;
  /** In the order in which they were measured. */
  readonly points: readonly LoadPoint[];
}

/** The points by their load. */
export function byLoad({ points }: Pick<MeasuredCurve, 'points'>): LoadPoint[] {
  return [...points].sort((a, b) => a.load - b.load || a.number - b.number);
}

/** A percentile of a point; undefined where it has too few queries for it. */
export function figureAt({ latencies }: LoadPoint, percentile: number): LatencyFigure | undefined {
  return latencies.find((one) => one.percentile === percentile);
}

/** Whether a point kept the bound; undefined where no query was completed. */
export function keepsBound(
  { boundNs, percentile }: Pick<MeasuredCurve, 'boundNs' | 'percentile'>,
  point: LoadPoint,
): boolean | undefined {
  const figure = figureAt(point, percentile);
  if (figure === undefined) return point.lostSamples > 0 ? false : undefined;
  return figure.valueNs <= boundNs && !point.isOverloaded && point.lostSamples === 0;
}

import { upperMedian } from '../../../shared/base/text.ts';
import { uniformInt } from '../../loadgen/random/distributions.ts';
import { Mt19937 } from '../../loadgen/random/mt19937.ts';
import { tokenTimes } from '../../loadgen/recorder/recording.ts';
import { laneOf } from '../../loadgen/settings/lanes.ts';
import { boundNsOn, keepsBounds, type QueryBound } from '../../loadgen/settings/query-bounds.ts';
import {
  type FigureName,
  LAG_PERCENTILES,
  LATENCY_PERCENTILES,
  type PercentileFigures,
  TPOT_PERCENTILES,
  TTFT_PERCENTILES,
} from '../../observe/figures/figure-names.ts';
import { type LatencyTable, latencyTable } from '../../observe/figures/latency-table.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import { boundNsOf, lanesOfRun, type RunSummary } from '../../observe/summary/run-summary.ts';
import { BlockHistogram, pieceStart } from './block-histogram.ts';

/** Number of resampled runs. */
export const REPLICATE_COUNT = 1000;

/**
 * Blocks per resampled run: each is a fiftieth of the run, much longer than the correlation time of
 * latencies.
 */
const BLOCK_COUNT = 50;

/** Fewest values beyond a percentile for a meaningful interval. */
const BEYOND_MIN = 20;

/** Pieces per block: a block may start at any piece, so blocks overlap. */
const PIECES_PER_BLOCK = 8;

/** A run to compare. */
export interface ComparedRun {
  readonly folder: string;
  readonly summary: RunSummary;
  /** Null for a run of mode accuracy. */
  readonly records: SampleRecords | null;
}

/**
 * Figures of the resampled runs, `REPLICATE_COUNT` values each. Figures without an interval
 * (counts, extremes) are absent.
 */
export type Replicates = ReadonlyMap<FigureName, Float64Array>;

/**
 * Draws alternative runs by the moving-block bootstrap. Latencies of a queue are correlated (slow
 * queries follow slow ones), so whole stretches of the run are drawn, not single queries. Circular
 * blocks of a fiftieth of the run (Politis and Romano 1992); if blocks are still correlated, the
 * drawn values are spread further. Offline has one query, whose latencies are not a sample of
 * anything: only its throughput has an interval. A percentile with fewer than twenty values beyond
 * it has none.
 */
export function resampleRun(
  { summary, records }: ComparedRun,
  seed: number,
  replicateCount: number = REPLICATE_COUNT,
): Replicates {
  if (records === null) return new Map();
  const table = latencyTable(records, summary.scenario);
  if (table.count < BLOCK_COUNT) return new Map();
  const draw = new BlockDraw(table.count, replicateCount, seed);
  const isOffline = summary.scenario === 'Offline';
  const tokens = timedTokens(records);
  const lanes = lanesOfRun(summary);
  // In runs with bounds, each row is a sample.
  const boundsOf = (row: number) => laneOf(lanes, records.sampleIndex[row] as number).bounds;
  const isGood = goodRow(table, tokens, summary, boundsOf);
  return new Map([
    ...(isOffline ? [] : draw.values(table.latencyNs, 'mean', LATENCY_PERCENTILES)),
    ...(summary.scenario === 'Server' ? draw.values(table.lagNs, null, LAG_PERCENTILES) : []),
    ...overlatencyOf(draw, table, summary, boundsOf),
    ...(tokens === null ? [] : draw.values(tokens.firstNs, null, TTFT_PERCENTILES)),
    ...(tokens === null ? [] : draw.values(tokens.perOutputNs, null, TPOT_PERCENTILES)),
    ...goodputOf(draw, table, isGood),
    ...ratesOf(draw, isOffline ? inOrderOfCompletion(table) : table, tokens, summary, isGood),
  ]);
}

/** A figure of the resampled runs. */
type Drawn = readonly [FigureName, Float64Array];

/** Draws blocks; the same ones for all figures of a run, since they belong together. */
class BlockDraw {
  readonly pieceCount: number;
  readonly replicateCount: number;
  readonly #blockLength: number;
  readonly #starts: readonly Uint32Array[];

  constructor(rowCount: number, replicateCount: number, seed: number) {
    this.pieceCount = Math.min(BLOCK_COUNT * PIECES_PER_BLOCK, rowCount);
    this.replicateCount = replicateCount;
    this.#blockLength = Math.max(1, Math.round(this.pieceCount / BLOCK_COUNT));
    const blocks = Math.max(1, Math.round(this.pieceCount / this.#blockLength));
    const generator = new Mt19937(BigInt(seed));
    this.#starts = Array.from({ length: replicateCount }, () =>
      Uint32Array.from({ length: blocks }, () => uniformInt(generator, this.pieceCount)),
    );
  }

  /** Resamples mean and percentiles of ordered values. */
  values(values: Float64Array, mean: FigureName | null, percentiles: PercentileFigures): Drawn[] {
    const histogram = new BlockHistogram(values, this.pieceCount);
    const known = percentiles.filter(([, share]) => histogram.count * (1 - share) >= BEYOND_MIN);
    if (histogram.count < BLOCK_COUNT) return [];
    const shares = known.map(([, share]) => share);
    const out = new Float64Array(shares.length + 1);
    const columns = [mean, ...known.map(([name]) => name)].map((name) => ({
      name,
      drawn: new Float64Array(this.replicateCount),
    }));
    this.#starts.forEach((starts, replicate) => {
      histogram.resample(starts, this.#blockLength, shares, out);
      columns.forEach(({ drawn }, i) => {
        drawn[replicate] = out[i] as number;
      });
    });
    const factor = spreadFactor(this.blockMeans((piece) => histogram.meanOf(piece)));
    return columns.flatMap(({ name, drawn }): Drawn[] =>
      name === null ? [] : [[name, spread(drawn, factor)]],
    );
  }

  /** Resamples sum of `above` / sum of `below`, each given per piece. */
  ratios(above: Float64Array, below: Float64Array): Float64Array {
    const drawn = Float64Array.from(this.#starts, (starts) => {
      let upper = 0;
      let lower = 0;
      for (const start of starts) {
        for (let i = 0; i < this.#blockLength; i += 1) {
          const piece = (start + i) % this.pieceCount;
          upper += above[piece] as number;
          lower += below[piece] as number;
        }
      }
      return upper / lower;
    });
    const means = this.blockMeans((piece) => (above[piece] as number) / (below[piece] as number));
    return spread(drawn, spreadFactor(means));
  }

  /** Means of consecutive blocks of pieces. */
  blockMeans(meanOf: (piece: number) => number): number[] {
    const length = this.#blockLength;
    return Array.from({ length: Math.floor(this.pieceCount / length) }, (_, block) => {
      let sum = 0;
      for (let i = 0; i < length; i += 1) sum += meanOf(block * length + i);
      return sum / length;
    });
  }

  /** Sums a value over the rows of each piece. */
  perPiece(rowCount: number, amountOf: (row: number) => number): Float64Array {
    return Float64Array.from({ length: this.pieceCount }, (_, piece) => {
      const end = pieceStart(rowCount, this.pieceCount, piece + 1);
      let sum = 0;
      for (let row = pieceStart(rowCount, this.pieceCount, piece); row < end; row += 1)
        sum += amountOf(row);
      return sum;
    });
  }
}

/** Bounds of the lane of a row. */
type BoundsOfRow = (row: number) => readonly QueryBound[];

/** True if a row completed within every bound; null for a run without bounds. */
type GoodRow = ((row: number) => boolean) | null;

function overlatencyOf(
  draw: BlockDraw,
  { count, latencyNs }: LatencyTable,
  summary: RunSummary,
  boundsOf: BoundsOfRow,
): Drawn[] {
  if (boundNsOf('latency', summary) === null) return [];
  const isAbove = (row: number): boolean =>
    (latencyNs[row] as number) > (boundNsOn('latency', boundsOf(row)) ?? Number.NaN);
  const above = draw.perPiece(count, (row) => (isAbove(row) ? 1 : 0));
  const all = draw.perPiece(count, () => 1);
  return [['overlatency', draw.ratios(above, all)]];
}

function goodRow(
  { latencyNs }: LatencyTable,
  tokens: TokenRows | null,
  summary: RunSummary,
  boundsOf: BoundsOfRow,
): GoodRow {
  const hasTimes = tokens !== null || boundNsOf('latency', summary) !== null;
  if (summary.figures.goodput === undefined || !hasTimes) return null;
  return (row) =>
    keepsBounds(boundsOf(row), {
      latency: latencyNs[row] as number,
      ttft: tokens?.firstNs[row] ?? Number.NaN,
      tpot: tokens?.perOutputNs[row] ?? Number.NaN,
    });
}

function goodputOf(draw: BlockDraw, { count }: LatencyTable, isGood: GoodRow): Drawn[] {
  if (isGood === null) return [];
  const good = draw.perPiece(count, (row) => (isGood(row) ? 1 : 0));
  const all = draw.perPiece(count, () => 1);
  return [['goodput', draw.ratios(good, all)]];
}

/** Rates: due or completed samples per piece, over the time until the next piece. */
function ratesOf(
  draw: BlockDraw,
  table: LatencyTable,
  tokens: TokenRows | null,
  { figures, scenario }: RunSummary,
  isGood: GoodRow,
): Drawn[] {
  const { count, scheduledNs, completedSamples, endNs } = table;
  const beginOf = (piece: number): number => {
    const row = pieceStart(count, draw.pieceCount, piece);
    return row >= count ? endNs : (scheduledNs[row] as number);
  };
  const seconds = Float64Array.from(
    { length: draw.pieceCount },
    (_, piece) => (beginOf(piece + 1) - beginOf(piece)) / 1e9,
  );
  // LoadGen's rates differ slightly from count / time, because of their end points: drawn rates are
  // scaled to the figure.
  const scaled = (name: FigureName, amountOf: (row: number) => number): Drawn[] => {
    const amounts = draw.perPiece(count, amountOf);
    const whole = sumOf(amounts) / sumOf(seconds);
    const figure = figures[name];
    if (figure === undefined || !Number.isFinite(whole) || whole === 0) return [];
    return [[name, draw.ratios(amounts, seconds).map((value) => (value * figure) / whole)]];
  };
  return [
    ...scaled('completed_qps', (row) => completedSamples[row] as number),
    ...(scenario === 'Server'
      ? [
          ...scaled('answered_qps', (row) => completedSamples[row] as number),
          ...scaled('scheduled_qps', () => 1),
        ]
      : []),
    ...(isGood === null ? [] : scaled('goodput_qps', (row) => (isGood(row) ? 1 : 0))),
    ...(tokens === null || scenario !== 'Server'
      ? []
      : scaled('tokens_per_second', (row) => tokens.counts[row] as number)),
    ...(tokens === null || isGood === null
      ? []
      : scaled('goodput_tokens_per_second', (row) =>
          isGood(row) ? (tokens.counts[row] as number) : 0,
        )),
  ];
}

function sumOf(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}

/** Offline: everything is due at the start, so the completion time replaces the due time. */
function inOrderOfCompletion(table: LatencyTable): LatencyTable {
  const rows = new Float64Array(table.count);
  for (let row = 0; row < table.count; row += 1) {
    rows[row] = (table.scheduledNs[row] as number) + (table.latencyNs[row] as number);
  }
  rows.sort();
  const completedSamples = Uint32Array.from(rows, (ns) => (Number.isNaN(ns) ? 0 : 1));
  const scheduledNs = rows.map((ns) => (Number.isNaN(ns) ? table.endNs : ns));
  return { ...table, scheduledNs, completedSamples };
}

/**
 * Token times and token counts of each sample, NaN and 0 if it was lost; null if tokens are not
 * timed.
 */
export function timedTokens(records: SampleRecords) {
  const { tokenCount, firstTokenNs, scheduledNs, completedNs, rowCount } = records;
  if (tokenCount === null || firstTokenNs === null) return null;
  const firstNs = new Float64Array(rowCount);
  const perOutputNs = new Float64Array(rowCount);
  const counts = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row += 1) {
    const dueNs = scheduledNs[row] as number;
    const latencyNs = (completedNs[row] as number) - dueNs;
    const toFirstNs = (firstTokenNs[row] as number) - dueNs;
    const times = tokenTimes(latencyNs, toFirstNs, tokenCount[row] as number);
    const isLost = Number.isNaN(latencyNs);
    firstNs[row] = isLost ? Number.NaN : times.ttft;
    perOutputNs[row] = isLost ? Number.NaN : times.tpot;
    counts[row] = isLost ? 0 : (tokenCount[row] as number);
  }
  return { firstNs, perOutputNs, counts };
}

type TokenRows = NonNullable<ReturnType<typeof timedTokens>>;

/**
 * Correction for intervals from 50 blocks, which are slightly too narrow: t of 49 degrees of
 * freedom / normal quantile, and the lost degree of freedom.
 */
const FEW_BLOCKS = (2.0096 / 1.96) * Math.sqrt(50 / 49);

/** Above this correlation there is no valid interval: the run is one long swing. */
const CORRELATION_MAX = 0.8;

/**
 * Factor to spread drawn values, since neighbouring blocks are correlated too: in a first-order
 * series with correlation r, the variance of a mean is (1 + r) / (1 - r) times that of independent
 * values. The estimate of r is biased low by (1 + 3 r) / n (Kendall 1954), which is added; a
 * negative r does not narrow the interval.
 * @param blockMeans In time order.
 */
export function spreadFactor(blockMeans: readonly number[]): number {
  const known = blockMeans.filter((mean) => Number.isFinite(mean));
  const average = known.reduce((sum, mean) => sum + mean, 0) / known.length;
  let variance = 0;
  let covariance = 0;
  known.forEach((mean, i) => {
    const next = known[i + 1];
    variance += (mean - average) ** 2;
    if (next !== undefined) covariance += (mean - average) * (next - average);
  });
  const seen = variance === 0 ? 0 : covariance / variance;
  const correlation = Math.min(Math.max(seen + (1 + 3 * seen) / known.length, 0), CORRELATION_MAX);
  return FEW_BLOCKS * Math.sqrt((1 + correlation) / (1 - correlation));
}

/** Moves values away from their median by a factor; no figure goes below 0. */
export function spread(values: Float64Array, factor: number): Float64Array {
  const middle = upperMedian(values) as number;
  return values.map((value) => Math.max(middle + (value - middle) * factor, 0));
}

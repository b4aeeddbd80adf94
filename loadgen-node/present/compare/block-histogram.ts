import { at } from '../../../shared/base/at.ts';
import { rankOf } from '../../loadgen/results/latency-statistics.ts';
import { sortedNumbers } from '../../observe/figures/latency-table.ts';
import { firstNotBelow } from '../charts/histogram.ts';

/**
 * Number of bins of equal rank over all values; the tail has bins of equal rank ratio per decade.
 */
const EVEN_BINS = 400;
const BINS_PER_DECADE = 100;

/**
 * Values in measured order, cut into pieces of equal length; each piece is a histogram over the
 * same bins. A resampled run is then a sum of histograms, so its cost does not grow with the number
 * of values. Up to some hundred values a bin holds one value, which is exact; with more, a value's
 * position within its bin follows from its rank.
 */
export class BlockHistogram {
  readonly pieceCount: number;
  /** Number of values that are not NaN. */
  readonly count: number;
  readonly #binCount: number;
  /** Smallest and largest value of each bin. */
  readonly #lowest: Float64Array;
  readonly #highest: Float64Array;
  /** Cumulative bin counts over the pieces, piece-major, with one row more than pieces. */
  readonly #before: Uint32Array;
  /** Cumulative sums of values over the pieces. */
  readonly #sumBefore: Float64Array;
  readonly #countBefore: Uint32Array;
  readonly #bins: Float64Array;

  /** @param values In order; NaN (lost) is in no bin. */
  constructor(values: Float64Array, pieceCount: number) {
    const sorted = sortedNumbers(values);
    this.pieceCount = pieceCount;
    this.count = sorted.length;
    const ends = binEnds(sorted.length);
    this.#binCount = ends.length;
    this.#highest = Float64Array.from(ends, (rank) => sorted[rank] as number);
    this.#lowest = Float64Array.from(
      ends,
      (_, k) => sorted[k === 0 ? 0 : at(ends, k - 1) + 1] as number,
    );
    this.#before = new Uint32Array((pieceCount + 1) * this.#binCount);
    this.#sumBefore = new Float64Array(pieceCount + 1);
    this.#countBefore = new Uint32Array(pieceCount + 1);
    this.#bins = new Float64Array(this.#binCount);
    this.#fill(values);
  }

  #fill(values: Float64Array): void {
    const width = this.#binCount;
    for (let piece = 0; piece < this.pieceCount; piece += 1) {
      const row = (piece + 1) * width;
      this.#before.copyWithin(row, row - width, row);
      let sum = this.#sumBefore[piece] as number;
      let count = this.#countBefore[piece] as number;
      const end = pieceStart(values.length, this.pieceCount, piece + 1);
      for (let i = pieceStart(values.length, this.pieceCount, piece); i < end; i += 1) {
        const value = values[i] as number;
        if (Number.isNaN(value)) continue;
        const place = row + firstNotBelow(this.#highest, value);
        this.#before[place] = (this.#before[place] as number) + 1;
        sum += value;
        count += 1;
      }
      this.#countBefore[piece + 1] = count;
      this.#sumBefore[piece + 1] = sum;
    }
  }

  /**
   * Mean and percentiles of a resampled run: blocks of `blockLength` pieces from the given starts,
   * wrapping around at the end.
   * @param out Receives the mean, then one value per percentile; NaN if nothing was drawn.
   */
  resample(
    starts: Uint32Array,
    blockLength: number,
    percentiles: readonly number[],
    out: Float64Array,
  ): void {
    const bins = this.#bins.fill(0);
    let sum = 0;
    for (const start of starts) {
      const end = start + blockLength;
      sum += this.#add(bins, start, Math.min(end, this.pieceCount));
      if (end > this.pieceCount) sum += this.#add(bins, 0, end - this.pieceCount);
    }
    const total = bins.reduce((a, b) => a + b, 0);
    out[0] = total === 0 ? Number.NaN : sum / total;
    let k = 0;
    let below = 0;
    percentiles.forEach((percentile, i) => {
      // Percentiles are ascending, so one pass over the bins is enough.
      const rank = rankOf(total, percentile);
      while (k < this.#binCount - 1 && below + (bins[k] as number) <= rank) {
        below += bins[k] as number;
        k += 1;
      }
      out[i + 1] = total === 0 ? Number.NaN : this.#valueIn(k, rank - below, bins[k] as number);
    });
  }

  /** Mean of the values of a piece; NaN without any. */
  meanOf(piece: number): number {
    const count = (this.#countBefore[piece + 1] as number) - (this.#countBefore[piece] as number);
    return ((this.#sumBefore[piece + 1] as number) - (this.#sumBefore[piece] as number)) / count;
  }

  /** Adds the counts of pieces [from, to) to `bins`; returns their sum of values. */
  #add(bins: Float64Array, from: number, to: number): number {
    const width = this.#binCount;
    const before = this.#before;
    let low = from * width;
    let high = to * width;
    for (let k = 0; k < width; k += 1) {
      bins[k] = (bins[k] as number) + (before[high] as number) - (before[low] as number);
      low += 1;
      high += 1;
    }
    return (this.#sumBefore[to] as number) - (this.#sumBefore[from] as number);
  }

  #valueIn(bin: number, rank: number, count: number): number {
    const low = this.#lowest[bin] as number;
    const high = this.#highest[bin] as number;
    return count < 2 ? (low + high) / 2 : low + ((high - low) * rank) / (count - 1);
  }
}

/** First index of a piece; piece lengths differ by at most one value. */
export function pieceStart(length: number, pieceCount: number, piece: number): number {
  return Math.floor((length * piece) / pieceCount);
}

/** Rank of the last value of each bin, ascending. */
function binEnds(count: number): number[] {
  if (count === 0) return [];
  const ends = new Set<number>();
  for (let i = 1; i <= EVEN_BINS; i += 1) ends.add(Math.ceil((count * i) / EVEN_BINS) - 1);
  const steps = Math.ceil(Math.log10(count) * BINS_PER_DECADE);
  for (let i = 0; i <= steps; i += 1) {
    ends.add(count - 1 - Math.trunc(count * 10 ** (-i / BINS_PER_DECADE)));
  }
  return [...ends].filter((rank) => rank >= 0).sort((a, b) => a - b);
}

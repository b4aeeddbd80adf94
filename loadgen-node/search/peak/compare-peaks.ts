import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { percentage, rounded } from '../../../shared/base/text.ts';
import { signedShare } from '../../present/compare/difference-text.ts';
import type { Question } from '../kept-file.ts';
import { peakOf } from './find-peak.ts';
import { unknownSince } from './print-peak.ts';
import type { PeakFile } from './search-peak.ts';

/** Peak of a search, and the interval of its limit; unknown ends are null. */
export interface ComparedPeak {
  readonly folder: string;
  /** Null if none was found. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Completed output tokens per second at the peak; null without a token model. */
  readonly tokensPerSecond: number | null;
  /** Why the limit is unknown, if the search states it; else null. */
  readonly unknownWhy: string | null;
  /** True if LoadGen, not the SUT, sets the limit. */
  readonly isOfLoadgen: boolean;
  /** True if the SUT also served other clients, so that its own limit is unknown. */
  readonly isBesideOthers: boolean;
  /** Settings, nodes and models of the search. */
  readonly question: Question;
  readonly unit: string;
}

/** The peak of a search. @throws MlperfError `ERR_CONFIG_INVALID` if it is not finished */
export function comparedPeak(
  folder: string,
  { search, identity, probes }: Pick<PeakFile, 'search' | 'identity' | 'probes'>,
): ComparedPeak {
  const result = peakOf(search, probes);
  if (result === null)
    throw configInvalid(`${folder}: the search is not at its end: --resume goes on`);
  const { interval, value, tokensPerSecond, limit } = result;
  const high = interval?.high ?? null;
  const unknownWhy = unknownSince(search, result);
  // A load confirmed by a full run is kept, whatever ended the search above it.
  const ends =
    unknownWhy === null
      ? { low: interval?.low ?? null, high: high !== null && Number.isFinite(high) ? high : null }
      : { low: value, high: null };
  return {
    folder,
    value,
    tokensPerSecond,
    question: identity,
    unit: search.kind === 'rate' ? 'queries/s' : 'streams',
    ...ends,
    unknownWhy,
    isOfLoadgen: limit === 'generator',
    isBesideOthers: limit === 'others',
  };
}

/** Text on two peaks, and the other's as a share of the base's; null if there is none. */
export function comparePeaks(base: ComparedPeak, own: ComparedPeak) {
  const { sentence, areApart, higher } = judge(base, own);
  // Peaks that are not comparable have no share.
  const share = areApart === null ? null : peakShare(base, own);
  const lines = [
    `Base          ${peakLine(base)}`,
    `Other         ${peakLine(own)}`,
    `Result        ${sentence}`,
  ];
  return { lines, sentence, areApart, higher, share };
}

/** A quotient with its bounds; null: open. */
export interface Share {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * Share with both ends at their worst: wider than an interval of the quotient itself, never too
 * narrow.
 */
function peakShare(base: ComparedPeak, own: ComparedPeak): Share | null {
  if (base.value === null || own.value === null) return null;
  const [below, above] = [around(base.value, base), around(own.value, own)];
  return {
    value: own.value / base.value,
    low: quotient(above.low, below.high),
    high: quotient(above.high, below.low),
  };
}

/**
 * Interval extended to the value: confirmed loads are stepped down, and may lie outside the
 * search's interval.
 */
function around(value: number, { low, high }: ComparedPeak) {
  return { low: low && Math.min(value, low), high: high && Math.max(value, high) };
}

function quotient(above: number | null, below: number | null): number | null {
  return above === null || below === null || below === 0 ? null : above / below;
}

/** `97.1 % (95 % to 99.4 %)`. */
export function shareText({ value, low, high }: Share): string {
  const [from, to] = [low, high].map((end) => (end === null ? 'open' : percentage(end)));
  return `${percentage(value)} (${from} to ${to})`;
}

function judge(base: ComparedPeak, own: ComparedPeak) {
  if (base.value === null || own.value === null) {
    const without = [base, own].filter(({ value }) => value === null).map(({ folder }) => folder);
    const sentence = `${without.join(' and ')} ${without.length === 1 ? 'has' : 'have'} no peak: there is nothing to compare`;
    return { sentence, areApart: null, higher: null };
  }
  const beside = [base, own].filter(({ isBesideOthers }) => isBesideOthers);
  if (beside.length > 0) {
    const where = beside.map(({ folder }) => folder).join(' and ');
    const sentence = `not comparable: the SUT was not alone in ${where}, but answered others as well, so that its own limit is not seen`;
    return { sentence, areApart: null, higher: null };
  }
  const share = own.value / base.value - 1;
  const higher = share === 0 ? null : share > 0 ? own : base;
  const areApart = isBelow(base, own) || isBelow(own, base);
  const known = [base, own].every(({ low, high }) => low !== null && high !== null);
  const apart = areApart
    ? 'the intervals are apart'
    : known
      ? 'the intervals overlap, so that the limits may be the same'
      : 'an interval is open, so that the limits may be the same';
  const ofLoadgen = [base, own].filter(({ isOfLoadgen }) => isOfLoadgen);
  const doubt =
    ofLoadgen.length === 0
      ? ''
      : `; LoadGen was the limit of ${ofLoadgen.map(({ folder }) => folder).join(' and ')}`;
  const what =
    higher === null
      ? 'the peaks are equal'
      : `${higher.folder} is higher: ${signedShare(share)} from ${base.folder} to ${own.folder}`;
  return { sentence: `${what}; ${apart}${doubt}`, areApart, higher: higher?.folder ?? null };
}

function isBelow({ high }: ComparedPeak, { low }: ComparedPeak): boolean {
  return high !== null && low !== null && high <= low;
}

function peakLine(found: ComparedPeak): string {
  const { folder, value, low, high, unit, unknownWhy, tokensPerSecond } = found;
  const tokens = tokensPerSecond === null ? '' : ` and ${rounded(tokensPerSecond, 4)} tokens/s`;
  const peak = value === null ? 'no peak' : `peak ${rounded(value, 4)} ${unit}${tokens}`;
  const limit =
    low === null
      ? 'not known'
      : high === null
        ? `${rounded(low, 4)} or more`
        : `${rounded(low, 4)} to ${rounded(high, 4)}`;
  const why = unknownWhy === null ? '' : `: ${unknownWhy}`;
  return `${folder}  ${peak}, limit ${limit}${why}`;
}

import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs, rounded, tableLines } from '../../../shared/base/text.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { signedShare } from '../../present/compare/difference-text.ts';
import { curveFindings, loadOf } from '../../present/curve/curve-findings.ts';
import {
  BOUND_TITLES,
  completedRate,
  figureAt,
  keepsBound,
  type LatencyFigure,
  type LoadPoint,
} from '../../present/curve/load-point.ts';
import { percentileName } from '../../present/text/figure-text.ts';
import { type CurveFile, readCurveFile } from '../curve/curve-files.ts';
import { type Question, questionDifferences } from '../kept-file.ts';
import { peakOf } from '../peak/find-peak.ts';
import { unknownSince } from '../peak/print-peak.ts';
import { readPeakFile } from '../peak/search-peak.ts';
import { type SearchVerb, searchVerbOf } from './kept-searches.ts';

/** The most that a search found, and where its limit lies; ends that are not known are null. */
interface ComparedPeak {
  readonly folder: string;
  /** Null: none was found. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Why the limit is not known, where the search says so; null elsewhere. */
  readonly unknownWhy: string | null;
  /** True: LoadGen, not the SUT, sets it. */
  readonly isOfLoadgen: boolean;
  /** True: the SUT answered others as well, so that its own limit is not seen. */
  readonly isBesideOthers: boolean;
  /** Settings, nodes and models. */
  readonly question: Question;
  readonly unit: string;
}

/** A percentile at a load that both curves measured. */
interface ComparedLoad {
  readonly load: number;
  readonly name: string;
  readonly base: LatencyFigure;
  readonly own: LatencyFigure;
}

const VERBS: Readonly<Record<SearchVerb, string>> = {
  'find-peak': 'a peak',
  curve: 'a curve',
  sweep: 'a sweep',
  efficiency: 'an efficiency',
};

/**
 * The verb whose results all folders are; null: they are runs.
 * @throws MlperfError `ERR_CONFIG_INVALID` where kinds are mixed, or are not compared
 */
function comparedVerbOf(folders: readonly string[]): 'find-peak' | 'curve' | null {
  const verbs = folders.map(searchVerbOf);
  const [first = null] = verbs;
  if (verbs.some((verb) => verb !== first)) {
    const kinds = folders.map((folder, i) => {
      const verb = verbs[i];
      return `${folder} is ${verb ? VERBS[verb] : 'a run'}`;
    });
    throw configInvalid(`compare takes results of one kind: ${kinds.join(', ')}`);
  }
  if (first === 'sweep' || first === 'efficiency') {
    throw configInvalid(
      `compare takes runs, peaks or curves, not ${VERBS[first]}: "longhaul report ${folders[0]}" prints it`,
    );
  }
  return first;
}

/**
 * Compares two peaks or two curves: which is higher, and whether the intervals are apart.
 * @param folders The first is the base.
 * @param said Options of a comparison of runs, by their keys: searches have none.
 * @returns Null: the folders are those of runs
 * @throws MlperfError `ERR_CONFIG_INVALID` where there are not two, or they have other bounds
 */
export function compareSearches(folders: readonly string[], said: readonly string[]) {
  const verb = comparedVerbOf(folders);
  if (verb === null) return null;
  const [flag] = said.filter((key) => key !== 'json');
  if (flag !== undefined) {
    throw configInvalid(`${flagOf(flag)} is for runs: peaks and curves have no such figures`);
  }
  const [base, own, more] = folders;
  if (base === undefined || own === undefined || more !== undefined) {
    throw configInvalid(`compare takes two peaks or two curves, not ${folders.length}`);
  }
  const loads: ComparedLoad[] = [];
  let peaks: readonly [ComparedPeak, ComparedPeak];
  if (verb === 'find-peak') peaks = [peakIn(base), peakIn(own)];
  else {
    const [one, other] = [readCurveFile(base), readCurveFile(own)];
    peaks = [curvePeakIn(base, one), curvePeakIn(own, other)];
    loads.push(...commonLoads(one, other));
  }
  const settings = differencesOf(peaks[0], peaks[1]);
  const { sentence, areApart, higher } = judge(...peaks);
  const text = [
    ...peaks.map((peak, i) => `${(i === 0 ? 'Base' : 'Other').padEnd(14)}${peakLine(peak)}`),
    `Result        ${sentence}`,
    ...settings.map((one, i) => `${i === 0 ? 'Differ' : ''}`.padEnd(14) + one),
    ...loadLines(loads),
    '',
  ].join('\n');
  const json = {
    verb,
    searches: peaks.map(({ question: _question, ...peak }) => peak),
    higher,
    areApart,
    settings,
    loads,
  };
  return { text, json };
}

function peakIn(folder: string): ComparedPeak {
  const { search, identity, probes } = readPeakFile(folder);
  const result = peakOf(search, probes);
  if (result === null)
    throw configInvalid(`${folder}: the search is not at its end: --resume goes on`);
  const { interval, value, limit } = result;
  const high = interval?.high ?? null;
  const unknownWhy = unknownSince(search, result);
  // What a full run confirmed is kept, whatever ended the search above it.
  const ends =
    unknownWhy === null
      ? { low: interval?.low ?? null, high: high !== null && Number.isFinite(high) ? high : null }
      : { low: value, high: null };
  return {
    folder,
    value,
    question: identity,
    unit: search.kind === 'rate' ? 'queries/s' : 'streams',
    ...ends,
    unknownWhy,
    isOfLoadgen: limit === 'generator',
    isBesideOthers: limit === 'others',
  };
}

/** The limit of a curve lies between its peak and the next load that missed the bound. */
function curvePeakIn(folder: string, curve: CurveFile): ComparedPeak {
  const { peak } = curveFindings(curve);
  const above = curve.points
    .filter((point) => peak !== null && point.load > peak.load)
    .filter((point) => keepsBound(curve, point) === false)
    .sort((a, b) => a.load - b.load)[0];
  const isTokens = curve.tpotNs !== undefined;
  return {
    folder,
    value: peak && completedRate(peak),
    low: peak && completedRate(peak),
    high: above === undefined || above.isGeneratorBound ? null : highest(above),
    unknownWhy: null,
    isOfLoadgen: above?.isGeneratorBound === true,
    isBesideOthers: curve.points.some(({ others }) => others !== undefined),
    question: curve.identity,
    unit: isTokens ? 'tokens/s' : curve.unit === 'queries at a time' ? 'samples/s' : curve.unit,
  };
}

/** Throughput that was asked for, where the SUT did not bring it out. */
function highest({ tokens, samplesPerSecond, scheduledPerSecond }: LoadPoint): number {
  return tokens?.perSecond ?? Math.max(samplesPerSecond, scheduledPerSecond ?? 0);
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for another bound or benchmark */
function differencesOf(base: ComparedPeak, own: ComparedPeak): string[] {
  const refused: string[] = [];
  const told: string[] = [];
  questionDifferences(base.question, own.question, (name, one, other) => {
    const text = `${name}: ${one} -> ${other}`;
    (DECISIVE.includes(name) ? refused : told).push(text);
    return text;
  });
  if (base.unit !== own.unit) refused.push(`unit: ${base.unit} -> ${own.unit}`);
  if (refused.length === 0) return told;
  throw configInvalid(
    `these searches had other questions, so their results cannot be compared: ${refused.join('; ')}`,
  );
}

/** Names in the question of a search by which its result means something else. */
const DECISIVE: readonly string[] = [
  ...['searched', 'stepped', 'latency', 'ttft', 'tpot', 'percentile', 'benchmark', 'scenario'],
];

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

function peakLine({ folder, value, low, high, unit, unknownWhy }: ComparedPeak): string {
  const peak = value === null ? 'no peak' : `peak ${rounded(value, 4)} ${unit}`;
  const limit =
    low === null
      ? 'not known'
      : high === null
        ? `${rounded(low, 4)} or more`
        : `${rounded(low, 4)} to ${rounded(high, 4)}`;
  const why = unknownWhy === null ? '' : `: ${unknownWhy}`;
  return `${folder}  ${peak}, limit ${limit}${why}`;
}

function commonLoads(base: CurveFile, own: CurveFile): ComparedLoad[] {
  return base.points.flatMap((point) => {
    const other = own.points.find(({ load }) => load === point.load);
    if (other === undefined) return [];
    return namedBounds(base).flatMap(({ name }) => {
      const [one, its] = [point, other].map((at) => figureAt(at, base.percentile, name));
      const title = name === 'latency' ? '' : `${BOUND_TITLES[name]} `;
      const said = `${title}${percentileName(base.percentile)}`;
      return one && its ? [{ load: point.load, name: said, base: one, own: its }] : [];
    });
  });
}

/** The percentile of the bound at loads that both measured. */
function loadLines(loads: readonly ComparedLoad[]): string[] {
  if (loads.length === 0) return [];
  const rows = loads.map(({ load, name, base, own }) => [
    loadOf(load),
    ...[name, formatNs(base.valueNs), formatNs(own.valueNs)],
    signedShare(own.valueNs / base.valueNs - 1),
    areFiguresApart(base, own) ? 'intervals apart' : 'within the noise',
  ]);
  const titles = ['load', '', 'base', 'other', 'difference', ''];
  return ['', ...tableLines([titles, ...rows], '  ', (column) => column !== 1 && column < 5)];
}

function areFiguresApart(one: LatencyFigure, other: LatencyFigure): boolean {
  const isBelowOther = (a: LatencyFigure, b: LatencyFigure): boolean =>
    a.highNs !== null && a.highNs < b.lowNs;
  return isBelowOther(one, other) || isBelowOther(other, one);
}

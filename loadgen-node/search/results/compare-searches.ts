import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs, tableLines } from '../../../shared/base/text.ts';
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
import { questionDifferences } from '../kept-file.ts';
import { type ComparedPeak, comparedPeak, comparePeaks, shareText } from '../peak/compare-peaks.ts';
import { readPeakFile } from '../peak/search-peak.ts';
import { type SearchVerb, searchVerbOf } from './kept-searches.ts';

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
 * The verb that made all folders; null: they are runs.
 * @throws MlperfError `ERR_CONFIG_INVALID` if kinds are mixed, or cannot be compared
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
 * Compares two peaks or two curves: which is higher, and whether the intervals are separate.
 * @param folders The first is the base.
 * @param said Explicit options of a comparison of runs: searches have none.
 * @returns Null if the folders are runs
 * @throws MlperfError `ERR_CONFIG_INVALID` if there are not two, or if their bounds differ
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
  if (verb === 'find-peak') {
    peaks = [comparedPeak(base, readPeakFile(base)), comparedPeak(own, readPeakFile(own))];
  } else {
    const [one, other] = [readCurveFile(base), readCurveFile(own)];
    peaks = [curvePeakIn(base, one), curvePeakIn(own, other)];
    loads.push(...commonLoads(one, other));
  }
  const settings = differencesOf(peaks[0], peaks[1]);
  const { lines, areApart, higher, share } = comparePeaks(...peaks);
  const text = [
    ...lines,
    ...(share === null
      ? []
      : [`Share         ${shareText(share)} of the base, from the ends of both limits`]),
    ...settings.map((one, i) => `${i === 0 ? 'Differ' : ''}`.padEnd(14) + one),
    ...loadLines(loads),
    '',
  ].join('\n');
  const json = {
    verb,
    searches: peaks.map(({ question: _question, ...peak }) => peak),
    higher,
    areApart,
    share,
    settings,
    loads,
  };
  return { text, json };
}

/** Peak of a curve; its limit lies between that and the next load that missed the bound. */
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
    // Its unit is tokens/s.
    tokensPerSecond: null,
    unknownWhy: null,
    isOfLoadgen: above?.isGeneratorBound === true,
    isBesideOthers: curve.points.some(({ others }) => others !== undefined),
    question: curve.identity,
    unit: isTokens ? 'tokens/s' : curve.unit === 'queries at a time' ? 'samples/s' : curve.unit,
  };
}

/** Highest throughput; the requested one if the SUT did not reach it. */
function highest({ tokens, samplesPerSecond, scheduledPerSecond }: LoadPoint): number {
  return tokens?.perSecond ?? Math.max(samplesPerSecond, scheduledPerSecond ?? 0);
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a different bound or benchmark */
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

/** Settings of a search that change the meaning of its result. */
const DECISIVE: readonly string[] = [
  ...['searched', 'stepped', 'latency', 'ttft', 'tpot', 'percentile', 'benchmark', 'scenario'],
];

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

/** The bound's percentile at loads that both curves measured. */
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

import { at } from '../../../shared/base/at.ts';
import {
  asOneLine,
  counted,
  formatNs,
  percentage,
  sentencesOf,
} from '../../../shared/base/text.ts';
import {
  type BoundName,
  namedBounds,
  type QueryBound,
} from '../../loadgen/settings/query-bounds.ts';
import { type Axis, linearAxis, timeAxis } from '../charts/scale.ts';
import { amount, formatNumber, percentileName } from '../text/figure-text.ts';
import { type CurveFindings, loadOf } from './curve-findings.ts';
import {
  BOUND_TITLES,
  byLoad,
  completedRate,
  curveFilesText,
  figureAt,
  type LoadPoint,
  type MeasuredCurve,
  throughputUnit,
} from './load-point.ts';

/** Width limit for a curve's table and plot, in characters. */
const WIDTH = 80;

/** A column of the table of points: title, width, text. */
type Column = readonly [title: string, width: number, text: (point: LoadPoint) => string];

function columnsOf(curve: Omit<MeasuredCurve, 'points'>): readonly Column[] {
  const { unit, percentile } = curve;
  if (curve.tpotNs !== undefined) return tokenColumns(curve);
  const shares = [...new Set([0.5, 0.9, percentile])].sort((a, b) => a - b);
  return [
    [unit === 'queries at a time' ? 'at a time' : unit, 9, ({ load }) => loadOf(load)],
    ['done/s', 7, ({ samplesPerSecond }) => formatNumber(samplesPerSecond)],
    ['queries', 7, ({ queries }) => String(queries)],
    ...shares.map(
      (share): Column => [
        percentileName(share),
        7,
        (point) => formatNs(figureAt(point, share)?.valueNs ?? Number.NaN),
      ],
    ),
    [
      `${percentileName(percentile)} within`,
      17,
      (point) => {
        const { lowNs, highNs } = figureAt(point, percentile) ?? {
          lowNs: Number.NaN,
          highNs: null,
        };
        return Number.isNaN(lowNs)
          ? '-'
          : `${formatNs(lowNs)} - ${highNs === null ? '?' : formatNs(highNs)}`;
      },
    ],
    ['good', 6, goodText],
    ['lost', 4, ({ lostSamples }) => amount(lostSamples)],
  ];
}

/** Columns of a token model: its two times, and goodput in tokens. */
function tokenColumns({ unit, percentile }: Omit<MeasuredCurve, 'points'>): readonly Column[] {
  const timeOf =
    (name: BoundName, share: number) =>
    (point: LoadPoint): string =>
      formatNs(figureAt(point, share, name)?.valueNs ?? Number.NaN);
  return [
    [unit === 'queries at a time' ? 'at a time' : unit, 9, ({ load }) => loadOf(load)],
    ['tokens/s', 8, (point) => formatNumber(completedRate(point))],
    ['queries', 8, ({ queries }) => String(queries)],
    ...(['ttft', 'tpot'] as const).flatMap((name): Column[] => [
      [`${BOUND_TITLES[name]} p50`, 9, timeOf(name, 0.5)],
      [percentileName(percentile), 8, timeOf(name, percentile)],
    ]),
    ['good', 6, goodText],
    ['lost', 4, ({ lostSamples }) => amount(lostSamples)],
  ];
}

/** Share of queries completed within every bound. */
function goodText({ goodput }: LoadPoint): string {
  return goodput === null ? '-' : percentage(goodput.share);
}

/** Head of the table of points. */
export function pointHeader(curve: Omit<MeasuredCurve, 'points'>): string {
  return columnsOf(curve)
    .map(([title, width]) => title.padStart(width))
    .join(' ');
}

/** A point as a table line, and its problem as a second line. */
export function pointLines(curve: Omit<MeasuredCurve, 'points'>, point: LoadPoint): string[] {
  const line = columnsOf(curve)
    .map(([, width, text]) => text(point).padStart(width))
    .join(' ');
  const faults = [point.why.replace(/; .*$/, ''), point.others ?? ''];
  return [line, ...faults.filter((text) => text !== '').map((text) => `          ${text}`)];
}

/** Last lines of a curve: plot, findings and files. */
export function curveEnd(curve: MeasuredCurve, findings: CurveFindings, folder: string): string {
  const beside = curve.points.filter(({ others }) => others !== undefined).length;
  const rows = [
    ['Peak', findings.peakText],
    ['Knee', findings.kneeText],
    ...(beside === 0 ? [] : [['Others', othersText(beside)] as const]),
    ['Files', `${curveFilesText(curve)} in ${folder}`],
  ] as const;
  const texts = rows.flatMap(([label, text]) =>
    sentencesOf(text).map((one, i) => `${(i === 0 ? label : '').padEnd(6)} ${asOneLine(one)}`),
  );
  const plots = namedBounds(curve).flatMap((bound) => [...curvePlot(curve, findings, bound), '']);
  return ['', ...plots, ...texts, ''].join('\n');
}

function othersText(count: number): string {
  return `The SUT answered others as well in ${counted(count, 'point')}: the curve is not that of the SUT alone. Measure again while nothing else uses it.`;
}

const PLOT_ROWS = 16;
const LABEL_WIDTH = 8;
const PLOT_COLUMNS = WIDTH - LABEL_WIDTH - 2;

/**
 * Plot of latency at the percentile against throughput, in characters: `o` a point, `x` a point
 * limited by LoadGen, `^` a point with a growing queue, `K` the knee, `P` the peak, `-` the bound.
 */
function curvePlot(
  curve: MeasuredCurve,
  { knee, peak }: CurveFindings,
  bound: QueryBound,
): string[] {
  const figureOf = (point: LoadPoint) => figureAt(point, curve.percentile, bound.name);
  const points = byLoad(curve).filter((point) => figureOf(point) !== undefined);
  if (points.length === 0) return [];
  const latencyAt = (point: LoadPoint): number => figureOf(point)?.valueNs ?? 0;
  const title = bound.name === 'latency' ? '' : `${BOUND_TITLES[bound.name]} `;
  const name = `${title}${percentileName(curve.percentile)}`;
  const y = timeAxis([...points.map(latencyAt), bound.ns], name);
  const largest = Math.max(...points.map(completedRate), 1e-9);
  const x = linearAxis({ from: 0, to: largest, title: '', format: formatNumber }, 6);
  const rows = Array.from({ length: PLOT_ROWS }, () => new Array<string>(PLOT_COLUMNS).fill(' '));
  const rowOf = (ns: number): number => Math.round((1 - y.scale(ns)) * (PLOT_ROWS - 1));
  rows[rowOf(bound.ns)]?.fill('-');
  for (const point of points) {
    const row = at(rows, rowOf(latencyAt(point)));
    row[columnOf(x, completedRate(point))] = signOf(point, knee, peak);
  }
  const labels = new Map(y.ticks.map(({ value, label }) => [rowOf(value), label]));
  return [
    `${name.padStart(LABEL_WIDTH)}   --- bound ${formatNs(bound.ns)}`,
    ...rows.map((row, i) =>
      `${(labels.get(i) ?? '').padStart(LABEL_WIDTH)} |${row.join('')}`.trimEnd(),
    ),
    `${' '.repeat(LABEL_WIDTH)} +${'-'.repeat(PLOT_COLUMNS)}`,
    ticksLine(x),
    `${' '.repeat(LABEL_WIDTH)}  completed ${throughputUnit(curve)}/s${signsText(points, { knee, peak })}`,
  ];
}

function columnOf(x: Axis, value: number): number {
  return Math.round(x.scale(value) * (PLOT_COLUMNS - 1));
}

function signOf(point: LoadPoint, knee: LoadPoint | null, peak: LoadPoint | null): string {
  if (point.number === peak?.number) return 'P';
  if (point.number === knee?.number) return 'K';
  if (point.isGeneratorBound) return 'x';
  return point.isOverloaded ? '^' : 'o';
}

function signsText(
  points: readonly LoadPoint[],
  { knee, peak }: Pick<CurveFindings, 'knee' | 'peak'>,
): string {
  const signs = [
    knee === null || knee.number === peak?.number ? '' : 'K knee',
    peak === null ? '' : `P peak${knee?.number === peak.number ? ' and knee' : ''}`,
    points.some(({ isGeneratorBound }) => isGeneratorBound) ? 'x LoadGen-bound' : '',
    points.some(({ isOverloaded }) => isOverloaded) ? '^ queue grew' : '',
  ];
  return signs.map((sign) => (sign === '' ? '' : `   ${sign}`)).join('');
}

function ticksLine(x: Axis): string {
  let line = ' '.repeat(LABEL_WIDTH + 2);
  for (const { value, label } of x.ticks) {
    const at = LABEL_WIDTH + 2 + columnOf(x, value);
    const begin = Math.min(Math.max(at - Math.floor(label.length / 2), 0), WIDTH - label.length);
    if (begin < line.trimEnd().length + 1) continue;
    line = line.trimEnd().padEnd(begin) + label;
  }
  return line;
}

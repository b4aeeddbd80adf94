import { asOneLine, formatNs, sentencesOf } from '../../../shared/base/text.ts';
import { type Axis, linearAxis, timeAxis } from '../charts/scale.ts';
import { amount, fitText, formatNumber, percentileName } from '../text/figure-text.ts';
import { type CurveFindings, loadOf } from './curve-findings.ts';
import { byLoad, CURVE_FILES, figureAt, type LoadPoint, type MeasuredCurve } from './load-point.ts';

/** Widest line of a curve's table and plot. */
const WIDTH = 80;

/** A column of the table of points: title, width, text. */
type Column = readonly [title: string, width: number, text: (point: LoadPoint) => string];

function columnsOf({ unit, percentile }: Omit<MeasuredCurve, 'points'>): readonly Column[] {
  const shares = [...new Set([0.5, 0.9, percentile])].sort((a, b) => a - b);
  return [
    [unit === 'queries at a time' ? 'at a time' : unit, 9, ({ load }) => loadOf(load)],
    ['done/s', 8, ({ samplesPerSecond }) => formatNumber(samplesPerSecond)],
    ['queries', 8, ({ queries }) => String(queries)],
    ...shares.map(
      (share): Column => [
        percentileName(share),
        8,
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
    ['lost', 4, ({ lostSamples }) => amount(lostSamples)],
  ];
}

/** Head of the table of points. */
export function pointHeader(curve: Omit<MeasuredCurve, 'points'>): string {
  return columnsOf(curve)
    .map(([title, width]) => title.padStart(width))
    .join(' ');
}

/** A point as a line of the table, and what is wrong with it as a second one. */
export function pointLines(curve: Omit<MeasuredCurve, 'points'>, point: LoadPoint): string[] {
  const line = columnsOf(curve)
    .map(([, width, text]) => text(point).padStart(width))
    .join(' ');
  return point.why === ''
    ? [line]
    : [line, fitText(`          ${point.why.replace(/; .*$/, '')}`, 118)];
}

/** The last lines of a curve: its plot, its findings, and its files. */
export function curveEnd(curve: MeasuredCurve, findings: CurveFindings, folder: string): string {
  const files = Object.values(CURVE_FILES).join(', ');
  const rows = [
    ['Peak', findings.peakText],
    ['Knee', findings.kneeText],
    ['Files', `${files} in ${folder}`],
  ] as const;
  const texts = rows.flatMap(([label, text]) =>
    sentencesOf(text).map((one, i) => `${(i === 0 ? label : '').padEnd(6)} ${asOneLine(one)}`),
  );
  return ['', ...curvePlot(curve, findings), '', ...texts, ''].join('\n');
}

const PLOT_ROWS = 16;
const LABEL_WIDTH = 8;
const PLOT_COLUMNS = WIDTH - LABEL_WIDTH - 2;

/**
 * Latency at the percentile over throughput, in characters: `o` a point, `x` one that LoadGen limited, `^` one whose queue grew, `K`
 * the knee, `P` the peak, `-` the bound.
 */
function curvePlot(curve: MeasuredCurve, { knee, peak }: CurveFindings): string[] {
  const points = byLoad(curve).filter((point) => figureAt(point, curve.percentile) !== undefined);
  if (points.length === 0) return [];
  const latencyAt = (point: LoadPoint): number => figureAt(point, curve.percentile)?.valueNs ?? 0;
  const name = percentileName(curve.percentile);
  const y = timeAxis([...points.map(latencyAt), curve.boundNs], name);
  const largest = Math.max(...points.map(({ samplesPerSecond }) => samplesPerSecond), 1e-9);
  const x = linearAxis({ from: 0, to: largest, title: '', format: formatNumber }, 6);
  const rows = Array.from({ length: PLOT_ROWS }, () => new Array<string>(PLOT_COLUMNS).fill(' '));
  const rowOf = (ns: number): number => Math.round((1 - y.scale(ns)) * (PLOT_ROWS - 1));
  rows[rowOf(curve.boundNs)]?.fill('-');
  for (const point of points) {
    const row = rows[rowOf(latencyAt(point))] as string[];
    row[columnOf(x, point.samplesPerSecond)] = signOf(point, knee, peak);
  }
  const labels = new Map(y.ticks.map(({ value, label }) => [rowOf(value), label]));
  return [
    `${name.padStart(LABEL_WIDTH)}   --- bound ${formatNs(curve.boundNs)}`,
    ...rows.map((row, i) =>
      `${(labels.get(i) ?? '').padStart(LABEL_WIDTH)} |${row.join('')}`.trimEnd(),
    ),
    `${' '.repeat(LABEL_WIDTH)} +${'-'.repeat(PLOT_COLUMNS)}`,
    ticksLine(x),
    `${' '.repeat(LABEL_WIDTH)}  completed samples/s${signsText(points, { knee, peak })}`,
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

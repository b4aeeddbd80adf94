import { at } from '../../../shared/base/at.ts';
import { formatNs, grouped } from '../../../shared/base/text.ts';
import { namedBounds, type QueryBound } from '../../loadgen/settings/query-bounds.ts';
import { drawWindow, hoverData } from '../charts/hover.ts';
import {
  drawAxes,
  drawBand,
  drawBound,
  drawDot,
  drawFlags,
  drawLine,
  type LegendEntry,
  type PlotArea,
} from '../charts/plot.ts';
import { linearAxis, timeAxis } from '../charts/scale.ts';
import { html } from '../html/html.ts';
import { formatNumber, formatShare, percentileName } from '../text/figure-text.ts';
import { type CurveFindings, intervalText, loadOf } from './curve-findings.ts';
import {
  BOUND_TITLES,
  byLoad,
  completedRate,
  figureAt,
  type LoadPoint,
  type MeasuredCurve,
  throughputUnit,
  timesOf,
} from './load-point.ts';

/** Percentiles to draw, from the fastest to that of the bound. */
function drawnPercentiles({ percentile }: Pick<MeasuredCurve, 'percentile'>): number[] {
  return [...new Set([0.5, 0.9, percentile])].sort((a, b) => a - b);
}

const CLASSES = ['c5', 'c1 dash2', 'c2'];
const GREY = 'c3';

/** Throughput against a bounded time: lines, intervals as bands, the bound, knee and peak. */
export function drawCurve(curve: MeasuredCurve, { knee, peak }: CurveFindings, bound: QueryBound) {
  const points = byLoad(curve).filter((point) => timesOf(point, bound.name).length > 0);
  const shares = drawnPercentiles(curve);
  const area = areaOf(curve, points, bound);
  const timeAt = (point: LoadPoint, share: number): number =>
    figureAt(point, share, bound.name)?.valueNs ?? Number.NaN;
  // Points limited by LoadGen show no latency of the SUT: they are drawn beside the lines.
  const own = rising(points.filter(({ isGeneratorBound }) => !isGeneratorBound));
  const steady = own.filter(({ isOverloaded }) => !isOverloaded);
  const layers = shares.map((share, i) => {
    const className = CLASSES[i % CLASSES.length] as string;
    const at = (point: LoadPoint) => [completedRate(point), timeAt(point, share)] as const;
    const stretches = steady.flatMap((point) => {
      const figure = figureAt(point, share, bound.name);
      if (figure === undefined) return [];
      return [[completedRate(point), figure.lowNs, figure.highNs ?? figure.valueNs] as const];
    });
    return {
      band: drawBand(area, stretches, className),
      line: drawLine(area, own.map(at), className),
      dots: points.map((point) =>
        drawDot(area, at(point), {
          className: point.isGeneratorBound ? GREY : className,
          form: point.isOverloaded ? 'hollow' : 'fill',
          hint: hintOf(curve, point),
        }),
      ),
    };
  });
  const rings = [knee, peak].flatMap((point) =>
    point === null
      ? []
      : [
          drawDot(area, [completedRate(point), timeAt(point, curve.percentile)], {
            className: 'c2',
            form: 'ring',
            hint: hintOf(curve, point),
          }),
        ],
  );
  const lines = html`${layers.map(({ band }) => band)}${layers.map(({ line }) => line)}`;
  const drawing = html`${drawAxes(area)}${drawWindow(area, lines)}${drawBound(area, bound.ns, `bound ${formatNs(bound.ns)}`)}${drawFlags(area, flagsOf(knee, peak))}${layers.map(({ dots }) => dots)}${rings}`;
  return { drawing, legend: legendOf(curve, points), hover: hoverOf(curve, area, points, bound) };
}

/**
 * Points in load order whose throughput exceeds all before: a line through them never runs
 * backwards.
 */
function rising(points: readonly LoadPoint[]): LoadPoint[] {
  let most = Number.NEGATIVE_INFINITY;
  return points.filter((point) => {
    const isMore = completedRate(point) > most;
    most = Math.max(most, completedRate(point));
    return isMore;
  });
}

/** Hover texts of all points of the chart. */
function hoverOf(
  curve: MeasuredCurve,
  area: PlotArea,
  points: readonly LoadPoint[],
  bound: QueryBound,
): string {
  const places = points.map((point) => [completedRate(point), Number.NaN] as const);
  const line = (name: string, text: (point: LoadPoint) => string) => ({
    name,
    points: places,
    texts: points.map(text),
  });
  const latencies = drawnPercentiles(curve).map((share) =>
    line(percentileName(share), (point) => {
      const figure = figureAt(point, share, bound.name);
      return figure === undefined ? '-' : `${formatNs(figure.valueNs)} (${intervalText(figure)})`;
    }),
  );
  const lines = [
    line('load', ({ load }) => `${loadOf(load)} ${curve.unit}`),
    ...latencies,
    line('goodput', ({ goodput }) => (goodput === null ? '-' : formatShare(goodput.share))),
    line('queries', ({ queries }) => grouped(queries)),
    line('lost', ({ lostSamples }) => (lostSamples === 0 ? '' : grouped(lostSamples))),
    line('', ({ why }) => why.replaceAll('|', '/')),
  ];
  const unit = throughputUnit(curve);
  const texts = { x: (rate: number) => `${formatNumber(rate)} ${unit}/s`, y: formatNs };
  return hoverData(area, lines, texts);
}

function areaOf(curve: MeasuredCurve, points: readonly LoadPoint[], bound: QueryBound): PlotArea {
  const values = points.flatMap((point) =>
    timesOf(point, bound.name)
      .filter(({ percentile }) => drawnPercentiles(curve).includes(percentile))
      .flatMap(({ valueNs, lowNs, highNs }) => [valueNs, lowNs, highNs ?? valueNs]),
  );
  const largest = Math.max(...points.map(completedRate), 0);
  return {
    x: linearAxis({
      from: 0,
      to: largest * 1.06 || 1,
      format: formatNumber,
      title: `completed ${throughputUnit(curve)} per second`,
    }),
    y: timeAxis([...values, bound.ns], BOUND_TITLES[bound.name]),
  };
}

function flagsOf(knee: LoadPoint | null, peak: LoadPoint | null) {
  const flag = (name: string, point: LoadPoint) => ({
    x: completedRate(point),
    label: `${name} ${formatNumber(completedRate(point))}/s`,
  });
  if (knee !== null && knee.number === peak?.number) return [flag('knee and peak', knee)];
  return [
    ...(knee === null ? [] : [flag('knee', knee)]),
    ...(peak === null ? [] : [flag('peak', peak)]),
  ];
}

function legendOf(curve: MeasuredCurve, points: readonly LoadPoint[]): LegendEntry[] {
  const lines = drawnPercentiles(curve).map((share, i) => ({
    name: percentileName(share),
    className: at(CLASSES, i % CLASSES.length),
  }));
  const has = (is: (point: LoadPoint) => boolean): boolean => points.some(is);
  return [
    ...lines,
    ...(has(({ isOverloaded }) => isOverloaded)
      ? [{ name: 'the queue grew', className: 'c2', form: 'hollow' as const }]
      : []),
    ...(has(({ isGeneratorBound }) => isGeneratorBound)
      ? [{ name: 'LoadGen was the limit', className: GREY, form: 'dot' as const }]
      : []),
  ];
}

/** Hover text of one point. */
function hintOf(curve: MeasuredCurve, point: LoadPoint): string {
  const { load, queries, lostSamples, why } = point;
  const done = `${formatNumber(completedRate(point))} ${throughputUnit(curve)}/s completed`;
  return [
    `${loadOf(load)} ${curve.unit}: ${done}, ${queries} queries`,
    ...namedBounds(curve).flatMap(({ name }) =>
      timesOf(point, name).map(
        (figure) =>
          `${name === 'latency' ? '' : `${BOUND_TITLES[name]} `}${percentileName(figure.percentile)} ${formatNs(figure.valueNs)} (${intervalText(figure)})`,
      ),
    ),
    ...(lostSamples === 0 ? [] : [`${lostSamples} lost`]),
    ...(why === '' ? [] : [why]),
  ].join('\n');
}

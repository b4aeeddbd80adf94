import { formatNs, rounded } from '../../../shared/base/text.ts';
import { namedBounds, type QueryBound } from '../../loadgen/settings/query-bounds.ts';
import { formatNumber, percentileName } from '../text/figure-text.ts';
import {
  BOUND_TITLES,
  boundsText,
  byLoad,
  completedRate,
  figureAt,
  keepsBound,
  type LoadPoint,
  type LoadUnit,
  type MeasuredCurve,
  missedBounds,
  throughputUnit,
} from './load-point.ts';

/** Knee of the curve and largest load within the bound, as sentences. */
export interface CurveFindings {
  readonly knee: LoadPoint | null;
  readonly kneeText: string;
  readonly peak: LoadPoint | null;
  readonly peakText: string;
}

type Peak = Pick<CurveFindings, 'peak' | 'peakText'>;
type Knee = Pick<CurveFindings, 'knee' | 'kneeText'>;

/** Finds knee and peak of a curve. @param searched The peak, if a search found it. */
export function curveFindings(curve: MeasuredCurve, searched?: Peak): CurveFindings {
  const found = searched ?? peakOf(curve);
  return { ...kneeOf(curve, found.peak), ...found };
}

/**
 * The knee by Kleinrock's power: maximum of throughput / mean latency. There, one more query costs
 * as much latency as it adds throughput: half of a single server's capacity in M/M/1, all servers
 * busy in a closed loop.
 */
function kneeOf(curve: MeasuredCurve, peak: LoadPoint | null): Knee {
  const all = byLoad(curve);
  const points = all.filter(
    ({ isGeneratorBound, lostSamples, queries }) =>
      !isGeneratorBound && lostSamples === 0 && queries > 0,
  );
  const none = (kneeText: string): Knee => ({ knee: null, kneeText });
  if (points.length < 3) {
    return none('Not known: it takes three loads at which the SUT alone was the limit.');
  }
  const power = (point: LoadPoint): number => completedRate(point) / point.meanNs;
  const best = points.reduce((a, b) => (power(b) > power(a) ? b : a));
  const place = all.indexOf(best);
  const isLast = best === points.at(-1);
  const beside = [all[place - 1], isLast ? undefined : all[place + 1]];
  const hidden = beside.find((point) => point?.isGeneratorBound);
  if (hidden !== undefined) {
    const where = askedText(curve.unit, hidden.load);
    return none(`Not known: LoadGen was the limit at ${where}, beside the load that may be it.`);
  }
  const [, after] = beside;
  if (after !== undefined && isBetter(curve, after, best)) {
    const [one, other] = [best, after].map(({ load }) => askedText(curve.unit, load));
    return none(`Not known: latency is lower at ${other} than at ${one}; the curve does not rise.`);
  }
  // A short probe may complete more than its load, and would be drawn beyond the peak.
  if (peak !== null && (best.load > peak.load || completedRate(best) > completedRate(peak))) {
    return none('None up to the peak: throughput grows faster than latency there.');
  }
  const text = pointText(curve, best);
  if (isLast) return none(`None up to ${text}: throughput grows faster than latency there.`);
  if (best === points[0]) {
    return none(`None above ${text}: from there on latency grows faster than throughput.`);
  }
  return {
    knee: best,
    kneeText: `At ${text}. Throughput divided by mean latency (${formatNs(best.meanNs)}) is largest there: beyond it latency grows faster than throughput.`,
  };
}

/**
 * True if a point has more throughput and certainly less latency: impossible in a queue at a higher
 * load.
 */
function isBetter(curve: MeasuredCurve, point: LoadPoint, other: LoadPoint): boolean {
  if (completedRate(point) < completedRate(other)) return false;
  return (
    point.meanNs < other.meanNs ||
    namedBounds(curve).some(({ name }) => {
      const [own, its] = [point, other].map((one) => figureAt(one, curve.percentile, name));
      return own !== undefined && own.highNs !== null && own.highNs < (its?.lowNs ?? 0);
    })
  );
}

function peakOf(curve: MeasuredCurve): Peak {
  const points = byLoad(curve).filter((point) => keepsBound(curve, point) !== undefined);
  const bound = `the bound of ${boundsText(namedBounds(curve), 'and')} at ${percentileName(curve.percentile)}`;
  const kept = points.filter((point) => keepsBound(curve, point) === true);
  const peak = kept.reduce<LoadPoint | null>(
    (a, b) => (a === null || completedRate(b) > completedRate(a) ? b : a),
    null,
  );
  const [lowest] = points;
  if (lowest === undefined) return { peak: null, peakText: 'None: no point was measured.' };
  if (peak === null) return { peak: null, peakText: noPeakText(curve, lowest, bound) };
  const sentences = [`${pointText(curve, peak)} keeps ${bound}: ${seenText(curve, peak)}.`];
  const doubt = mayMissText(curve, peak);
  if (doubt !== null) sentences.push(`${doubt}: a longer point (--min-duration) can decide.`);
  const missed = points.filter((point) => keepsBound(curve, point) === false);
  const above = missed.find(({ load }) => load > peak.load);
  sentences.push(aboveText(curve, above));
  // If LoadGen was the limit, the SUT did not miss the bound.
  const below = missed.find(({ load, isGeneratorBound }) => load < peak.load && !isGeneratorBound);
  if (below !== undefined) {
    sentences.push(`A lower load, ${pointText(curve, below)}, missed it: measure again.`);
  }
  return { peak, peakText: sentences.join(' ') };
}

function noPeakText(curve: MeasuredCurve, lowest: LoadPoint, bound: string): string {
  const where = pointText(curve, lowest);
  if (!lowest.isGeneratorBound) {
    return `None: no load kept ${bound}; the lowest was ${where}: ${missText(curve, lowest)}.`;
  }
  const reason = lowest.why.replace(/^.*?: /, '');
  return `Not known: LoadGen was the limit already at ${where}, the lowest load (${reason}), so what the SUT keeps is not seen.`;
}

/** @param above The first load above the peak that missed the bound. */
function aboveText(curve: MeasuredCurve, above: LoadPoint | undefined): string {
  if (above === undefined) return 'No higher load missed it: the peak may lie higher.';
  const next = `The next load, ${pointText(curve, above)}: ${missText(curve, above)}`;
  return above.isGeneratorBound ? `${next}; the peak of the SUT may lie higher.` : `${next}.`;
}

function mayMissText(curve: MeasuredCurve, point: LoadPoint): string | null {
  const figures = namedBounds(curve).flatMap(({ name, ns }) => {
    const figure = figureAt(point, curve.percentile, name);
    return figure === undefined ? [] : [{ highNs: figure.highNs, ns }];
  });
  if (figures.some(({ highNs, ns }) => highNs !== null && highNs > ns)) {
    return 'Its interval reaches above the bound';
  }
  const isOpen = figures.some(({ highNs }) => highNs === null);
  return isOpen ? 'Of so few queries the upper end of its interval is unknown' : null;
}

function missText(curve: MeasuredCurve, point: LoadPoint): string {
  const { lostSamples, isOverloaded, isGeneratorBound, why } = point;
  if (lostSamples > 0 || isOverloaded || isGeneratorBound) return why;
  // The bound that was kept does not explain why the load is too high.
  return seenText(curve, point, missedBounds(curve, point));
}

function seenText(
  curve: MeasuredCurve,
  point: LoadPoint,
  bounds: readonly QueryBound[] = namedBounds(curve),
): string {
  const texts = bounds.flatMap(({ name }) => {
    const figure = figureAt(point, curve.percentile, name);
    const title = name === 'latency' ? '' : ` of ${BOUND_TITLES[name]}`;
    return figure === undefined
      ? []
      : [
          `${percentileName(curve.percentile)}${title} is ${formatNs(figure.valueNs)} (${intervalText(figure)})`,
        ];
  });
  return texts.length === 0 ? 'no query was completed' : texts.join(', ');
}

/** `41.2 ms to 43 ms`; without an upper end if there are too few queries. */
export function intervalText({
  lowNs,
  highNs,
}: {
  readonly lowNs: number;
  readonly highNs: number | null;
}): string {
  return highNs === null
    ? `${formatNs(lowNs)} or more`
    : `${formatNs(lowNs)} to ${formatNs(highNs)}`;
}

/** A load and its result: `40 queries/s (39.8 samples/s completed)`. */
function pointText(curve: MeasuredCurve, point: LoadPoint): string {
  const done = `${formatNumber(completedRate(point))} ${throughputUnit(curve)}/s completed`;
  return `${askedText(curve.unit, point.load)} (${done})`;
}

/** A load with its unit: `40 queries/s`, `1 query at a time`. */
export function askedText(unit: LoadUnit, load: number): string {
  return `${loadOf(load)} ${load === 1 ? unit.replace(/^queries at/, 'query at') : unit}`;
}

/** A load in its shortest exact form. */
export function loadOf(load: number): string {
  return rounded(load, load >= 1000 ? 6 : 4);
}

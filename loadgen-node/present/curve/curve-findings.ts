import { formatNs, rounded } from '../../../shared/base/text.ts';
import { namedBounds } from '../../loadgen/results/query-bounds.ts';
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
  throughputUnit,
} from './load-point.ts';

/** Where the curve bends, and the most that keeps the bound, in sentences. */
export interface CurveFindings {
  readonly knee: LoadPoint | null;
  readonly kneeText: string;
  readonly peak: LoadPoint | null;
  readonly peakText: string;
}

/** Finds knee and peak of a curve. */
export function curveFindings(curve: MeasuredCurve): CurveFindings {
  return { ...kneeOf(curve), ...peakOf(curve) };
}

/**
 * The knee by Kleinrock's power: throughput divided by mean latency. It is where one more query costs as much latency as it
 * brings throughput: half of what one server does in M/M/1, all servers busy in a closed loop.
 */
function kneeOf(curve: MeasuredCurve): Pick<CurveFindings, 'knee' | 'kneeText'> {
  const points = byLoad(curve).filter(
    ({ isGeneratorBound, lostSamples, queries }) =>
      !isGeneratorBound && lostSamples === 0 && queries > 0,
  );
  const none = (kneeText: string) => ({ knee: null, kneeText });
  if (points.length < 3) {
    return none('Not known: it takes three loads at which the SUT alone was the limit.');
  }
  const power = (point: LoadPoint): number => completedRate(point) / point.meanNs;
  const best = points.reduce((a, b) => (power(b) > power(a) ? b : a));
  const place = points.indexOf(best);
  const text = pointText(curve, best);
  if (place === points.length - 1) {
    return none(`Above ${text}: up to there throughput grows faster than latency.`);
  }
  if (place === 0) {
    return none(`At ${text} or below: from there on latency grows faster than throughput.`);
  }
  return {
    knee: best,
    kneeText: `At ${text}. Throughput divided by mean latency (${formatNs(best.meanNs)}) is largest there: beyond it latency grows faster than throughput.`,
  };
}

function peakOf(curve: MeasuredCurve): Pick<CurveFindings, 'peak' | 'peakText'> {
  const points = byLoad(curve).filter((point) => keepsBound(curve, point) !== undefined);
  const bound = `the bound of ${boundsText(namedBounds(curve), 'and')} at ${percentileName(curve.percentile)}`;
  const kept = points.filter((point) => keepsBound(curve, point) === true);
  const peak = kept.reduce<LoadPoint | null>(
    (a, b) => (a === null || completedRate(b) > completedRate(a) ? b : a),
    null,
  );
  const [lowest] = points;
  if (lowest === undefined) return { peak: null, peakText: 'None: no point was measured.' };
  if (peak === null) {
    return {
      peak: null,
      peakText: `None: no load kept ${bound}; the lowest was ${pointText(curve, lowest)}: ${missText(curve, lowest)}.`,
    };
  }
  const sentences = [`${pointText(curve, peak)} keeps ${bound}: ${seenText(curve, peak)}.`];
  if (mayMiss(curve, peak)) {
    sentences.push('Its interval reaches above the bound: a longer point (--min-duration) tells.');
  }
  const missed = points.filter((point) => keepsBound(curve, point) === false);
  const above = missed.find(({ load }) => load > peak.load);
  sentences.push(
    above === undefined
      ? 'No higher load missed it: the peak may lie higher.'
      : `The next load, ${pointText(curve, above)}: ${missText(curve, above)}.`,
  );
  const below = missed.find(({ load }) => load < peak.load);
  if (below !== undefined) {
    sentences.push(`A lower load, ${pointText(curve, below)}, missed it: measure again.`);
  }
  return { peak, peakText: sentences.join(' ') };
}

function mayMiss(curve: MeasuredCurve, point: LoadPoint): boolean {
  return namedBounds(curve).some(({ name, ns }) => {
    const figure = figureAt(point, curve.percentile, name);
    return figure !== undefined && (figure.highNs === null || figure.highNs > ns);
  });
}

function missText(curve: MeasuredCurve, point: LoadPoint): string {
  return point.lostSamples > 0 || point.isOverloaded ? point.why : seenText(curve, point);
}

function seenText(curve: MeasuredCurve, point: LoadPoint): string {
  const texts = namedBounds(curve).flatMap(({ name }) => {
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

/** `41.2 ms to 43 ms`, open above where too few queries tell. */
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

/** A load with what it came to: `40 queries/s (39.8 samples/s completed)`. */
function pointText(curve: MeasuredCurve, point: LoadPoint): string {
  const done = `${formatNumber(completedRate(point))} ${throughputUnit(curve)}/s completed`;
  return `${askedText(curve.unit, point.load)} (${done})`;
}

/** A load with its unit: `40 queries/s`, `1 query at a time`. */
export function askedText(unit: LoadUnit, load: number): string {
  return `${loadOf(load)} ${load === 1 ? unit.replace(/^queries at/, 'query at') : unit}`;
}

/** A load as short as it is exact. */
export function loadOf(load: number): string {
  return rounded(load, load >= 1000 ? 6 : 4);
}

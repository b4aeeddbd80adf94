import { formatNs } from '../../../shared/base/text.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { curveFindings } from '../../present/curve/curve-findings.ts';
import type { LoadPoint, MeasuredCurve } from '../../present/curve/load-point.ts';
import { type CurveReport, writeCurve } from '../../present/curve/write-curve.ts';
import { instantText } from '../../present/text/figure-text.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import { addressesOf } from '../../run/plan/target.ts';
import type { Question } from '../kept-file.ts';
import type { PeakResult } from './peak-result.ts';
import { BACKLOG_GREW, type LoadSearch, type PeakProbe } from './peak-search.ts';
import { limitInterval, peakSentence } from './print-peak.ts';

/** A search whose probes are drawn. */
interface DrawnSearch {
  readonly run: RunPlan;
  readonly search: LoadSearch;
  readonly identity: Question;
  readonly probes: readonly PeakProbe[];
  /** Null if the search was interrupted. */
  readonly result: PeakResult | null;
}

/**
 * Writes the probes of a search as a curve: page, table and picture.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writePeakCurve({ run, search, identity, probes, result }: DrawnSearch): void {
  const curve: MeasuredCurve = {
    unit: search.kind === 'rate' ? 'queries/s' : 'streams',
    boundNs: search.boundNs,
    tpotNs: search.tpotNs,
    percentile: search.percentile,
    points: pointsOf(probes),
  };
  if (curve.points.length === 0) return;
  writeCurve(run.output, {
    ...curve,
    madeBy: 'find-peak',
    title: `${confNameOf(run.rules)}: the probes of a search for the peak`,
    findings: findingsOf(curve, search, result),
    facts: [
      ['Benchmark', `${confNameOf(run.rules)} (${run.rules.title})`],
      ['SUT nodes', `${identity['names of the nodes']} at ${addressesOf(run).join(', ')}`],
      ['Models', identity['models of the nodes'] ?? '-'],
      ['A full run', `${formatNs(search.full.minDurationNs)} or more`],
      ['Measured', instantText(new Date().toISOString())],
    ],
    notes: [
      ...(result === null
        ? ['INCOMPLETE: the search was broken off; --resume goes on with it.']
        : []),
      'Screenings end as soon as they are decided: above the bound, latencies grow with the time that a probe lasted.',
    ],
  });
}

/** The peak is the one that a full run confirmed. */
function findingsOf(
  curve: MeasuredCurve,
  search: LoadSearch,
  result: PeakResult | null,
): CurveReport['findings'] {
  if (result === null) return curveFindings(curve);
  const confirming = result.probes.find(
    ({ kind, load, verdict }) => kind === 'full' && load === result.load && verdict === 'keeps',
  );
  const peak = curve.points.find(({ number }) => number === confirming?.number) ?? null;
  const texts = [peakSentence(search, result), limitInterval(search, result), result.limitText];
  const peakText = texts.map((text) => `${text.replace(/\.$/, '')}.`).join(' ');
  return curveFindings(curve, { peak, peakText });
}

/** Probes under load; for several at one load, the one with the most queries. */
function pointsOf(probes: readonly PeakProbe[]): LoadPoint[] {
  const loaded = probes.filter(({ kind }) => kind !== 'unloaded');
  const isLargest = (probe: PeakProbe): boolean =>
    loaded.every((other) => other.load !== probe.load || other.queries <= probe.queries);
  return loaded.filter(isLargest).map((probe) => {
    const isGeneratorBound = probe.verdict === 'generator-bound';
    const { number, load, scheduledPerSecond, samplesPerSecond, queries, lostSamples } = probe;
    const { latencies, tokens, goodput, meanNs, lagP99Ns, durationNs, explanation } = probe;
    return {
      number,
      load,
      scheduledPerSecond,
      samplesPerSecond,
      queries,
      lostSamples,
      latencies,
      tokens,
      goodput,
      meanNs,
      lagP99Ns,
      durationNs,
      explanation,
      ...(probe.others !== undefined && { others: probe.others }),
      isGeneratorBound,
      rateInterval: null,
      isOverloaded: !isGeneratorBound && (probe.growth !== null || probe.why === BACKLOG_GREW),
      why: `${probe.kind === 'full' ? 'full run' : 'screening'}: ${probe.verdict === 'keeps' ? 'keeps the bound' : probe.why}`,
    };
  });
}

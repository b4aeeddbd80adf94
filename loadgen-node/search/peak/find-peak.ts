import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { percentileOf } from '../../loadgen/results/latency-statistics.ts';
import { likelyGrowth } from '../../loadgen/results/queue-growth.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { boundsText } from '../../present/curve/load-point.ts';
import { type NextStep, nextRateStep, type PlannedProbe } from './next-probe.ts';
import { nextStreamsStep } from './next-streams.ts';
import { meanOf, type OverShare, overShareOf, shareInterval, Z_95 } from './over-share.ts';
import { batchQueries, steadyPart } from './pace.ts';
import { type PeakResult, peakResult } from './peak-result.ts';
import {
  BACKLOG_GREW,
  boundedTimes,
  type LoadSearch,
  type PeakProbe,
  type ProbeEnd,
  type ProbeOutcome,
  type ProbeTokens,
  type RunProbe,
  silentSut,
} from './peak-search.ts';
import { percentileIntervals } from './percentile-intervals.ts';
import { decide, decideAll, ScreeningWatch } from './screening.ts';

/** Earlier probes of a search, and a callback for new ones. */
interface FindPeakOptions {
  /** Earlier probes of the same search, in order: it continues from there. */
  readonly earlier?: readonly PeakProbe[];
  /** Name of the next probe in the status line. Default: `probe` and its number. */
  readonly nameOf?: (number: number) => string;
  /** Called with each probe at once, before the next one. */
  readonly onProbe?: (probe: PeakProbe) => void;
}

/** Most probes of one search; more means a defect. */
const PROBES_MAX = 200;

/**
 * Finds the largest load that keeps the bound: brackets it, narrows the bracket with screenings,
 * and confirms with full runs. The next probe follows from the earlier probes alone, so an
 * interrupted search continues exactly.
 * @throws MlperfError errors of `runProbe`, `ERR_SUT_LOST` if a probe ended by a fault or a
 *   stall, `ERR_INTERRUPTED`
 */
export async function findPeak(
  search: LoadSearch,
  runProbe: RunProbe,
  { earlier = [], onProbe, nameOf = (number) => `probe ${number}` }: FindPeakOptions = {},
): Promise<PeakResult> {
  const probes = [...earlier];
  for (;;) {
    const step = nextStep(search, probes);
    if ('ending' in step) return peakResult(search, probes, step);
    const number = probes.length;
    const watch = new ScreeningWatch(search, step.probe);
    const { kind, load, queriesMax, durationNsMax, durationNsMin } = step.probe;
    const limits =
      kind === 'full'
        ? { durationNsMin }
        : { queriesMax, durationNsMax, isDecided: watch.isDecided };
    const outcome = await runProbe({ kind, load, number, name: nameOf(number), ...limits });
    const probe = judgeProbe(search, { number, planned: step.probe, watch }, outcome);
    probes.push(probe);
    onProbe?.(probe);
  }
}

/** Result of the probes of a search; null if it is not finished. */
export function peakOf(search: LoadSearch, probes: readonly PeakProbe[]): PeakResult | null {
  const step = nextStep(search, probes);
  return 'ending' in step ? peakResult(search, probes, step) : null;
}

function nextStep(search: LoadSearch, probes: readonly PeakProbe[]): NextStep {
  if (probes.length >= PROBES_MAX) return { ending: 'unconfirmed' };
  return search.kind === 'rate' ? nextRateStep(search, probes) : nextStreamsStep(search, probes);
}

/** Rules that a full run fails because its load is too high. */
const RULES_OF_LOAD: readonly string[] = ['latency-bound', 'early-stopping', 'not-kept-up'];

/** Confidence of a screening's verdict, whenever it ended. */
const SCREENING_CONFIDENCE = 0.99;

/** A planned and observed probe. */
interface JudgedProbe {
  readonly number: number;
  readonly planned: PlannedProbe;
  readonly watch: ScreeningWatch;
}

/**
 * Determines what a probe means for the search.
 * @throws MlperfError `ERR_SUT_LOST`, `ERR_INTERRUPTED`: there is no such probe then.
 */
export function judgeProbe(
  search: LoadSearch,
  { number, planned, watch }: JudgedProbe,
  outcome: ProbeOutcome,
): PeakProbe {
  refuseBroken(outcome.end);
  const meanNs = meanOf(outcome.latenciesNs);
  const counted = (timesNs: Float64Array) => settled(search, planned, timesNs, meanNs);
  const { length: count } = counted(outcome.latenciesNs);
  const batchMin = batchQueries(count, planned.load, search, meanNs);
  const bounds = namedBounds(search).map((bound) => {
    const timesNs = boundedTimes(bound.name, outcome);
    return { bound, timesNs, share: overShareOf(counted(timesNs), bound.ns, batchMin) };
  });
  const shares = bounds.map(({ share }) => share);
  const { tokens, latenciesNs, samplesPerSecond, scheduledPerSecond, lagP99Ns } = outcome;
  const hasGrowth = planned.kind === 'full' && search.kind === 'rate';
  const growth = hasGrowth ? likelyGrowth(outcome.latenciesNs, outcome.scheduledPerSecond) : null;
  const { verdict, why } =
    planned.kind === 'full'
      ? ofFullRun(outcome, growth)
      : ofScreening(search, planned, shares, outcome, watch);
  return {
    number,
    kind: planned.kind,
    load: planned.load,
    verdict,
    why,
    queries: shares[0]?.queries ?? 0,
    bounds: bounds.map(({ bound: { name }, timesNs, share }) => {
      const { low, high } = shareInterval(share, Z_95);
      const { over: overQueries, varianceFactor } = share;
      const percentileNs = percentileOf(timesNs.slice().sort(), search.percentile);
      const explanation = outcome.explanations?.[name];
      return {
        name,
        overQueries,
        varianceFactor,
        shareLow: low,
        shareHigh: high,
        percentileNs,
        ...(explanation !== undefined && { explanation }),
      };
    }),
    meanNs,
    latencies: percentileIntervals(latenciesNs, search.percentile, batchMin),
    tokens: tokens === undefined ? null : tokenFigures(tokens, search.percentile, batchMin),
    goodput: outcome.goodput ?? null,
    lostSamples: outcome.end.counts.lostSamples,
    lagP99Ns,
    samplesPerSecond,
    scheduledPerSecond,
    growth,
    durationNs: outcome.end.durationNs,
    explanation: outcome.explanation ?? null,
    folder: outcome.folder ?? null,
    ...(outcome.others !== undefined && { others: outcome.others }),
  };
}

/**
 * Queries of a screening after its initially empty queue had time to fill. A full run counts whole,
 * like its verdict.
 */
function settled(
  search: LoadSearch,
  { kind, load }: PlannedProbe,
  timesNs: Float64Array,
  meanNs: number,
): Float64Array {
  if (kind !== 'screening' || search.kind !== 'rate') return timesNs;
  return steadyPart(timesNs, load, search, meanNs);
}

function refuseBroken(end: ProbeEnd): void {
  const { endCause, faultText } = end;
  if (endCause === 'interrupted') {
    throw new MlperfError('ERR_INTERRUPTED', 'the search was interrupted');
  }
  if (endCause !== 'fault' && endCause !== 'stall') return;
  const what =
    endCause === 'stall'
      ? silentSut(end, 'a probe')
      : `the SUT broke during a probe: ${faultText ?? 'no reason given'}`;
  throw new MlperfError('ERR_SUT_LOST', what);
}

type VerdictWithWhy = Pick<PeakProbe, 'verdict' | 'why'>;

function ofFullRun(outcome: ProbeOutcome, growth: number | null): VerdictWithWhy {
  const { isValid, reasons, end } = outcome;
  if (isValid && growth !== null) {
    const perSecond = formatNs(Math.round(growth * 1e9));
    const percent = Number((growth * 100).toPrecision(2));
    const why = `VALID, but the queue grew all through the run: latency by ${perSecond} a second, as with ${percent} % more load than the SUT completes`;
    return { verdict: 'misses', why };
  }
  if (isValid) return { verdict: 'keeps', why: 'VALID' };
  const lost = lostVerdict(end);
  if (lost !== undefined) return lost;
  const isLate = reasons.some(({ rule }) => rule === 'generator-bound');
  if (isLate && isOwnLag(outcome)) return generatorVerdict(end);
  const other = reasons.find(({ rule }) => ![...RULES_OF_LOAD, 'generator-bound'].includes(rule));
  const first = other ?? reasons[0];
  const why = first === undefined ? 'INVALID' : `INVALID: ${first.text}`;
  return { verdict: other === undefined ? 'misses' : 'invalid', why };
}

function ofScreening(
  search: LoadSearch,
  planned: PlannedProbe,
  shares: readonly OverShare[],
  outcome: ProbeOutcome,
  watch: ScreeningWatch,
): VerdictWithWhy {
  const { end } = outcome;
  const lost = lostVerdict(end);
  if (lost !== undefined) return lost;
  if (watch.isBacklogHopeless) {
    return { verdict: 'misses', why: BACKLOG_GREW };
  }
  // A measurement without load that misses the bound ends the search, so chance must be excluded.
  const confidence = planned.kind === 'unloaded' ? planned.confidence : SCREENING_CONFIDENCE;
  const decisions = shares.map((share) => decide(share, search.percentile, confidence));
  const decision = decideAll(decisions);
  // Lateness of LoadGen only lengthens latencies: a load that looks light is light.
  const isHeavy = shares.some(({ over, queries }) => over > queries * (1 - search.percentile));
  if (end.isGeneratorBound && planned.kind === 'screening' && isHeavy && isOwnLag(outcome)) {
    return generatorVerdict(end);
  }
  const all = namedBounds(search);
  const missed = all.filter((_, i) => decisions[i] === 'misses');
  const late = Number(((1 - search.percentile) * 100).toPrecision(6));
  const texts = {
    keeps: `surely no more than ${late} % above ${boundsText(all, 'or')}`,
    misses: `surely more than ${late} % above ${boundsText(missed, 'and')}`,
    undecided: 'near the limit or too short to tell',
  };
  return { verdict: decision, why: texts[decision] };
}

/** False if latencies are so much longer than LoadGen's lag that the rest is the SUT's. */
function isOwnLag({ lagP99Ns, latenciesNs }: ProbeOutcome): boolean {
  return lagP99Ns === 0 || lagP99Ns > meanOf(latenciesNs) / 10;
}

function lostVerdict({ counts, faultText }: ProbeEnd): VerdictWithWhy | undefined {
  const { lostSamples, issuedSamples } = counts;
  if (lostSamples === 0) return undefined;
  const first = faultText === null ? '' : ` (first: ${faultText})`;
  return { verdict: 'lost', why: `${lostSamples} of ${issuedSamples} samples lost${first}` };
}

function generatorVerdict({ generatorBoundReason }: ProbeEnd): VerdictWithWhy {
  return { verdict: 'generator-bound', why: `LoadGen was too slow: ${generatorBoundReason}` };
}

/** Percentiles of both token times, for a curve. */
export function tokenFigures(
  { firstNs, perOutputNs, perSecond }: ProbeTokens,
  percentile: number,
  batchMin: number,
) {
  return {
    perSecond,
    ttft: percentileIntervals(firstNs, percentile, batchMin),
    tpot: percentileIntervals(perOutputNs, percentile, batchMin),
  };
}

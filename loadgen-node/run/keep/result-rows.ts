import { counted, formatNs, grouped, percentage, rounded } from '../../../shared/base/text.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { divisionInWords } from '../../../shared/rules/rounds/rounds.ts';
import { isSutLost } from '../../loadgen/engine/issue/issue-threads.ts';
import type {
  PerformanceOutcome,
  PhaseOutcome,
  TestOutcome,
} from '../../loadgen/engine/test-outcome.ts';
import type { PerformanceSummary } from '../../loadgen/results/summarize.ts';
import { rateFactor } from '../../loadgen/schedule/arrivals/arrivals.ts';
import { boundsOfLanes } from '../../loadgen/settings/lanes.ts';
import { hasLatency } from '../../observe/figures/figures-of-outcome.ts';
import { generatorFinding } from '../../observe/health/ceiling-file.ts';
import { whyInShort } from '../../observe/split/split-text.ts';
import { hasSchedule } from '../../observe/summary/run-summary.ts';
import {
  boundInWords,
  formatShare,
  percentileName,
  timeOrDash,
} from '../../present/text/figure-text.ts';
import { causeWords, type LabelledText as Row, rowsUnder } from '../../present/text/result-text.ts';
import { accuracyInWords, isMet, targetInWords } from '../../samples/benchmarks/score-each.ts';
import { isOutsideDivision } from '../plan/run-plan.ts';
import { peakRows, tableRows, tokenRows } from './figure-rows.ts';
import { type EndedReport, isValid } from './run-report.ts';
import { sutText } from './surrounding-rows.ts';

/** Relative difference between scheduled and requested rate from which it is reported. */
const RATE_DIFFERENCE = 0.01;

/** The result of a run, one fact per line: first the verdict and what was measured. */
export function rowsOfResult(report: EndedReport): Row[] {
  const failures = failuresOf(report.outcome);
  return [
    verdictRow(report),
    ...measuredRows(report),
    // The verdict's reasons have only the first failure's text; a single text is shown there.
    ...(failures.length > 1 ? rowsUnder('Failures', failures) : []),
    ...sutText(report).map((text): Row => ['SUT', text]),
  ];
}

function verdictRow(report: EndedReport): Row {
  const { outcome, plan } = report;
  const { accuracy, performance } = outcome;
  const what = [confNameOf(plan.rules), plan.settings.scenario];
  if (accuracy !== null) {
    const samples = `${grouped(accuracy.counts.issuedSamples)} samples`;
    what.push(performance === null ? `accuracy of ${samples}` : 'accuracy and performance');
  }
  if (performance !== null) what.push(loadText(report, performance));
  const judged = isValid(report) ? 'VALID' : 'INVALID';
  const result = outcome.isInterrupted ? 'INTERRUPTED' : judged;
  const engine =
    plan.linked === undefined ? '' : `; C++ LoadGen ${plan.linked.manifest.build.version}`;
  const cause = result === 'INVALID' ? causeWords(outcome.verdicts.longhaul) : null;
  const why = cause === null ? '' : `: ${cause}`;
  return [result, `${what.join(', ')} (${divisionText(report)}${engine})${why}`];
}

function loadText(report: EndedReport, { summary, durationNs }: PerformanceOutcome): string {
  const lasted = formatNs(durationNs);
  const { completedSampleCount: samples, queryCount } = summary;
  switch (summary.scenario) {
    case 'Server':
      return `${requestedRate(report)} for ${loadTime(report, summary, durationNs)}`;
    case 'Offline':
      return `${counted(samples, 'sample')} in ${lasted}`;
    default:
      return `${counted(queryCount, 'query', 'queries')} in ${lasted}`;
  }
}

/** How long a Server load lasted, and if responses took notably longer, when the run ended. */
function loadTime(
  { plan: { arrivals } }: EndedReport,
  { rates, queryCount }: PerformanceOutcome['summary'],
  durationNs: number,
): string {
  const loadNs = ((queryCount - 1) / rates.scheduled) * 1e9;
  const isLonger = arrivals?.kind !== 'closed-loop' && loadNs > 0 && durationNs > 1.1 * loadNs;
  const lasted = formatNs(durationNs);
  return isLonger ? `${formatNs(loadNs)}, ended after ${lasted}` : lasted;
}

function requestedRate({ outcome: { peakTargetQps }, plan }: EndedReport): string {
  const { arrivals, settings } = plan;
  if (peakTargetQps !== null) return `the peak of ${rateText(peakTargetQps)} queries/s`;
  if (arrivals?.kind === 'closed-loop') return `closed loop, ${arrivals.concurrency} at a time`;
  const rate = `${Number(settings.serverTargetQps.toPrecision(6))} queries/s`;
  return arrivals === undefined ? rate : `arrivals ${arrivals.text}, ${rate} on average`;
}

function divisionText({ audit, plan }: EndedReport): string {
  if (audit === null) return 'no network';
  const { division, settings, round } = plan;
  return division === 'network' && isOutsideDivision(plan)
    ? `open division: ${settings.scenario} is in no other`
    : divisionInWords(round, division);
}

/** Rows of the requested load and its result. */
function measuredRows(report: EndedReport): Row[] {
  const { accuracy, performance } = report.outcome;
  const phase = performance ?? accuracy;
  const rows: Row[] = [];
  if (performance !== null) rows.push(['Requested', requestedText(report, performance)]);
  if (phase !== null)
    rows.push(['Answered', answeredText(report, phase) + extendedText(performance)]);
  if (performance !== null) rows.push(['Throughput', throughputText(report, performance)]);
  if (accuracy !== null) rows.push(['Accuracy', accuracyText(report)]);
  if (performance !== null && hasLatency(performance)) {
    rows.push(['Latency', latencyText(report, performance)]);
  }
  rows.push(...tokenRows(report), ...peakRows(report), ...tableRows(report));
  const split = report.summary?.split ?? null;
  const isOffline = report.plan.settings.scenario === 'Offline';
  const hasModel = report.plan.rules.isSynthetic !== true;
  if (split !== null) rows.push(['Time went', whyInShort(split, { isOffline, hasModel })]);
  if (performance !== null) rows.push(['LoadGen', loadgenText(report, performance)]);
  return rows;
}

/** Why samples failed, one line per text. */
export function failuresOf({
  accuracy,
  performance,
}: Pick<TestOutcome, 'accuracy' | 'performance'>): string[] {
  return [accuracy, performance].flatMap((phase) => phase?.failures.flatMap(failureLines) ?? []);
}

/** One line per text if there are several: samples may fail for different reasons. */
function failureLines({ code, count, texts }: PhaseOutcome['failures'][number]): string[] {
  const told = texts.reduce((sum, text) => sum + text.count, 0);
  const lines = texts.map((one) => `${grouped(one.count)} ${code}: ${one.text}`);
  return told === count
    ? lines
    : [...lines, `${grouped(count - told)} ${code}, for further reasons`];
}

function requestedText(report: EndedReport, performance: PerformanceOutcome): string {
  const { settings, arrivals } = report.plan;
  const time = settings.minDurationMs > 0 ? [formatNs(settings.minDurationMs * 1e6)] : [];
  const least = [...time, counted(settings.minQueryCount, 'query', 'queries')];
  const isLongByCount =
    settings.minQueryCount > (settings.serverTargetQps * settings.minDurationMs) / 1e3;
  const { summary, counts } = performance;
  switch (summary.scenario) {
    case 'Server':
      return arrivals === undefined
        ? `${requestedRate(report)}${atLeast(isLongByCount ? least : time)}${drawnText(report, performance)}`
        : requestedRate(report);
    case 'Offline':
      return (
        `${counted(counts.issuedSamples, 'sample')} in one query: ` +
        `${rateText(settings.offlineExpectedQps)} samples/s expected${time.length > 0 ? ',' : ''}${atLeast(time)}`
      );
    default:
      if (summary.arrivals !== null) return streamsText(report, performance) + atLeast(least);
      return `one query after the other,${atLeast(least)}`;
  }
}

/** With a leading blank; empty if there is no minimum. */
function atLeast(least: readonly string[]): string {
  return least.length === 0 ? '' : ` for at least ${least.join(' and ')}`;
}

/** MultiStream of round v0.5: its metric, the number of streams. */
function streamsText({ plan }: EndedReport, { summary }: PerformanceOutcome): string {
  const streams = counted(plan.settings.multiStreamSamplesPerQuery, 'stream');
  const every = formatNs(summary.arrivals?.intervalNs ?? 0);
  return `${streams}, a query every ${every},`;
}

/**
 * Explains the drawn rate. The seed is fixed: every run of one length draws the same arrivals, so a
 * short run is always off in the same direction.
 */
function drawnText(
  { outcome, plan }: EndedReport,
  { summary, counts }: PerformanceOutcome,
): string {
  const { scheduled } = summary.rates;
  // LoadGen's rate counts completed samples; the schedule had all of them.
  const drawn = (scheduled * (counts.issuedSamples - 1)) / (counts.completedSamples - 1);
  const requested = outcome.peakTargetQps ?? plan.settings.serverTargetQps;
  if (plan.settings.serverCoalesceQueries || !Number.isFinite(drawn) || drawn <= 0) return '';
  if (Math.abs(drawn / requested - 1) <= RATE_DIFFERENCE) return '';
  return `; LoadGen's fixed seed draws ${rateText(drawn)} in so short a run`;
}

function answeredText({ plan: { settings } }: EndedReport, phase: PhaseOutcome): string {
  const { counts, failures } = phase;
  const { issuedQueries, completedQueries, issuedSamples, completedSamples } = counts;
  const isByQuery = settings.scenario !== 'Offline' && issuedQueries > 1;
  const answered = isByQuery
    ? `${grouped(completedQueries)} of ${counted(issuedQueries, 'query', 'queries')}`
    : `${grouped(completedSamples)} of ${counted(issuedSamples, 'sample')}`;
  const texts = [answered, lostText(counts.lostSamples, failures)];
  if (counts.contractErrors > 0) {
    texts.push(`${counted(counts.contractErrors, 'response')} broke the contract`);
  }
  return texts.join(', ');
}

/** Text for an extended run; LoadGen never extends its own. */
function extendedText(performance: PerformanceOutcome | null): string {
  const { count = 0, queries = 0, isDecided = false } = performance?.extension ?? {};
  if (count === 0) return '';
  const end = isDecided ? 'until early stopping decided' : 'without a decision';
  return `; ${counted(queries, 'query', 'queries')} of them by going on ${end}`;
}

/** Failure codes without any response. */
const WITHOUT_ANSWER: readonly string[] = ['lost', 'not-sent'];

function lostText(lost: number, failures: PhaseOutcome['failures']): string {
  if (lost === 0) return 'none lost';
  const errors = failures
    .filter(({ code }) => !WITHOUT_ANSWER.includes(code))
    .reduce((sum, { count }) => sum + count, 0);
  const how = errors === 0 ? 'without an answer' : `${grouped(errors)} answered with an error`;
  return `${grouped(lost)} lost (${how})`;
}

function throughputText(report: EndedReport, performance: PerformanceOutcome): string {
  if (!hasLatency(performance)) return 'none: no sample was answered without error';
  if (isSutLost(performance.endCause)) return 'none: the SUT was gone before the end';
  const { summary, counts } = performance;
  const { rates, tokens } = summary;
  const factor = rateFactor(report.plan.arrivals, summary.queryCount);
  const completed = summary.answeredPerSecond || rates.completed;
  const ofScenario = completed > 0 ? completed * factor : rates.withOverhead;
  const perS = ofScenario || (report.figures.completed_qps ?? 0);
  const unit = counts.issuedQueries === counts.issuedSamples ? 'queries' : 'samples';
  const ofTokens =
    tokens === null || !Number.isFinite(tokens.completed)
      ? ''
      : `, ${rateText(tokens.completed)} tokens/s`;
  // With a single query LoadGen's rates are 0.
  if (!Number.isFinite(perS) || perS <= 0) return 'none: one query has no rate';
  return `${rateText(perS)} ${unit}/s${ofTokens}${goodputText(report)}`;
}

/** Goodput, if it is less than the full rate and the bound is not a default. */
function goodputText({ figures, plan }: EndedReport): string {
  const { goodput, goodput_qps: perS, goodput_tokens_per_second: tokensPerS } = figures;
  if (goodput === undefined || goodput === 1 || plan.isBoundUnsaid) return '';
  const ofTokens = tokensPerS === undefined ? '' : ` and ${rateText(tokensPerS)} tokens/s`;
  return `; goodput ${rateText(perS ?? 0)}/s${ofTokens}, ${formatShare(goodput)} of the queries`;
}

function accuracyText({ outcome, quality, accuracy: { report, problem } }: EndedReport): string {
  if (problem !== undefined) return 'none: see the reasons above';
  if (report === undefined || outcome.accuracy === null) {
    return 'none: not every sample was answered';
  }
  const verdict = isMet(report, quality) ? 'met' : 'NOT met';
  return `${accuracyInWords(report)}, target ${targetInWords(quality)}: ${verdict}`;
}

function latencyText(report: EndedReport, { summary }: PerformanceOutcome): string {
  const latency = summary.queryLatency ?? summary.sampleLatency;
  const usual = latency.percentiles.filter(({ percentile }) =>
    [0.5, 0.9, 0.99].includes(percentile),
  );
  // The text after it is about latency; token models and fixed intervals have other times.
  const isOfLatency = summary.scenario !== 'Offline' && !summary.tokens && !summary.arrivals;
  const isMissing = usual.every(({ percentile }) => percentile !== summary.target.percentile);
  const all = isOfLatency && isMissing ? [...usual, summary.target] : usual;
  const shown = all
    .sort((a, b) => a.percentile - b.percentile)
    .map(({ percentile, valueNs }) => `${percentileName(percentile)} ${formatNs(valueNs)}`);
  const texts = [...shown, `max ${formatNs(latency.maxNs)}`];
  return `${texts.join(', ')}${boundTexts(report, summary)}`;
}

function boundTexts({ plan }: EndedReport, summary: PerformanceSummary): string {
  const { scenario, target, lanes } = summary;
  if (scenario === 'Offline') return '; all were due at the start';
  if (summary.arrivals !== null) return skipsText(summary.arrivals, target.percentile);
  if (scenario !== 'Server') return `; the metric is ${percentileName(target.percentile)}`;
  const whose = plan.isBoundUnsaid ? ' (default: --target-latency sets it)' : '';
  return boundsOfLanes(lanes)
    .filter(({ name }) => name === 'latency')
    .map((bound) => `; bound ${boundInWords(bound)}${whose}: ${grouped(bound.aboveCount)} above`)
    .join('');
}

function skipsText(arrivals: NonNullable<PerformanceSummary['arrivals']>, percentile: number) {
  const { skippingQueries, intervalNs } = arrivals;
  const most = percentage(Number((1 - percentile).toPrecision(6)));
  return `; at most ${most} of the queries may take longer than their ${formatNs(intervalNs)}: ${grouped(skippingQueries)} did`;
}

function loadgenText(
  { plan, summary, figures }: EndedReport,
  performance: PerformanceOutcome,
): string {
  const { scenario } = performance.summary;
  const loadTest = summary?.loadTest ?? null;
  const isTimed = hasSchedule({ scenario, round: plan.round, loadTest });
  const { kind, head, causes } = generatorFinding(performance, isTimed);
  if (isSutLost(performance.endCause)) return 'not judged: the SUT was gone before the end';
  // The verdict's reasons already contain all of it.
  if (kind === 'bound') return head;
  if (kind === 'disturbed') return `${head}, but ${causes[0] ?? ''}`;
  if (scenario !== 'Server' || !isTimed) return head;
  return `${head}: dispatch lag p99 ${timeOrDash(figures.lag_p99)}`;
}

/** Three significant digits, all digits from 1,000 on. */
function rateText(perSecond: number): string {
  return perSecond >= 1000 ? grouped(Math.round(perSecond)) : rounded(perSecond, 3);
}

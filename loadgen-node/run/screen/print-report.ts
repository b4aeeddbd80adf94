import { join } from 'node:path';
import { counted, formatNs } from '../../../shared/base/text.ts';
import type { NameCall, NodeNameCall } from '../../../shared/evidence/evidence-schema.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { isSutLost } from '../../loadgen/engine/issue/issue-threads.ts';
import type { PerformanceOutcome, PhaseOutcome } from '../../loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { rateFactor } from '../../loadgen/schedule/arrivals/arrivals.ts';
import { boundsOfLanes } from '../../loadgen/settings/lanes.ts';
import { hasLatency } from '../../observe/figures/figures-of-outcome.ts';
import { adviceOn } from '../../present/text/advice.ts';
import { boundInWords } from '../../present/text/figure-text.ts';
import { timeLines } from '../../present/text/print-split.ts';
import { type ResultText, resultLines, row, rowsBelow } from '../../present/text/result-text.ts';
import { dataSetInWords } from '../../samples/data-set/check-data-set.ts';
import { percentiles, rateText } from '../keep/figure-rows.ts';
import { failuresOf, rowsOfResult } from '../keep/result-rows.ts';
import { isValid, type RunReport } from '../keep/run-report.ts';
import { keyNotesOf } from '../keep/surrounding-rows.ts';

/** How much a verb prints. */
export interface ScreenOptions {
  /** True: prints everything known about the run. Default: false. */
  readonly isVerbose?: boolean;
  /** Flag or command that shows the remaining notes. Default: `--verbose`. */
  readonly otherNotes?: string;
  /** False: the verb lacks the flags named in advice. Default: true. */
  readonly advises?: boolean;
}

/** The result of a run for people, verdict first; ends with a newline. */
export function printReport(
  report: RunReport,
  { isVerbose = false, otherNotes = '--verbose', advises = true }: ScreenOptions = {},
): string {
  const lines = [
    ...resultLines(resultOf(report, advises), isVerbose ? 'below' : otherNotes),
    row('Files', filesText(report)),
    ...(isVerbose ? ['', ...detailLines(report)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** The result from the summary; a SUT without nodes has no summary. */
function resultOf(report: RunReport, advises: boolean): ResultText {
  const { outcome, plan, thresholds, notes } = report;
  const { longhaul, loadgen } = outcome.verdicts;
  const judged = longhaul.isValid ? 'VALID' : 'INVALID';
  return {
    result: outcome.isInterrupted ? 'INTERRUPTED' : judged,
    rows: rowsOfResult(report),
    reasons: longhaul.reasons.map((reason) =>
      advises ? { ...reason, advice: adviceOn(reason, outcome, plan) } : reason,
    ),
    isValidForLoadgen: loadgen.isValid,
    thresholds,
    notes,
    keyNotes: keyNotesOf(report),
  };
}

/** Where the files of a run are. */
function filesText({ plan, summary, problems }: RunReport): string {
  const { output, writesPage } = plan;
  if (problems.length > 0) return `${join(output, '/')}, not whole: what is missing stands below`;
  if (summary === null || !writesPage) return join(output, '/');
  return `${join(output, RUN_FILES.page)}, logs and evidence beside it`;
}

/**
 * Everything known about a run; what is omitted on the screen is in its report and logs as well.
 */
function detailLines(report: RunReport): string[] {
  const { outcome, plan, summary } = report;
  const files = dataSetInWords(report.dataSetCheck);
  const failures = failuresOf(outcome);
  const times = summary === null ? [] : timeLines({ outcome, summary });
  return [
    ...nameLines(report.nameCalls),
    row('Benchmark', `${confNameOf(plan.rules)} (${plan.rules.title})`),
    row(
      'Samples',
      `${report.dataSetCheck.sampleCount} in ${report.dataSetCheck.name}, sent as ${plan.encodingName}`,
    ),
    ...(files === undefined ? [] : [row('', files)]),
    ...report.models.map((model) => row('Model', model)),
    ...scriptLines(report),
    ...(outcome.performance === null ? [] : performanceLines(report, outcome.performance)),
    ...times.map(([label, text]) => row(label, text)),
    ...countLines(report, 'accuracy', outcome.accuracy),
    ...countLines(report, 'performance', outcome.performance),
    ...(failures.length > 1 ? [] : failures.map((text) => row('', text))),
    row('Logs', outcome.logFiles.summary.replace(/[^/\\]*$/, '')),
    ...rowsBelow('All notes', report.notes),
  ];
}

/** Name of the SUT, duration of LoadGen's Name(), and each node's round trips. */
export function nameLines(calls: readonly NameCall[]): string[] {
  const [first] = calls;
  if (first === undefined) return [];
  const durations = calls.map(({ durationNs }) => formatNs(durationNs));
  return [
    row('SUT', `${first.name}   (Name took ${durations.join(', after the run ')})`),
    ...first.nodes.map((node) => row('', nodeNameLine(node, calls))),
  ];
}

/** A node that did not answer has no round trip; the verdict states why. */
function nodeNameLine({ address, name }: NodeNameCall, calls: readonly NameCall[]): string {
  const answers = calls.flatMap(({ nodes }) => nodes.filter((node) => node.address === address));
  const times = (pick: (node: NodeNameCall) => number | null): string =>
    answers
      .map(pick)
      .map((ns) => (ns === null ? 'none' : formatNs(ns)))
      .join(' and ');
  const roundTrips = times(({ roundTripNs }) => roundTripNs);
  const connects = times(({ tcpConnectNs }) => tcpConnectNs);
  return `${name} at ${address}: round trip ${roundTrips}, plain TCP connect ${connects}`;
}

/** The line of MLPerf's accuracy script. */
function scriptLines({ accuracy: { report: scored }, plan: { rules } }: RunReport): string[] {
  if (scored?.scriptLine === undefined || !rules.isOfficial) return [];
  // If there are several lines, the last has the score.
  return [row('Accuracy', scored.scriptLine.split('\n').at(-1) as string)];
}

function performanceLines(report: RunReport, performance: PerformanceOutcome): string[] {
  const { summary, transportWait } = performance;
  const { rates } = summary;
  const isAnswered = hasLatency(performance);
  const hasRate = isAnswered && !isSutLost(performance.endCause);
  const rate = (perSecond: number): string => (hasRate ? rateText(perSecond) : '-');
  const factor = rateFactor(report.plan.arrivals, summary.queryCount);
  const lines: string[] = [];
  switch (summary.scenario) {
    case 'Server':
      lines.push(
        row(
          'Load',
          `Server, ${requestedLoad(report)}: ` +
            `${ratesText(report, rate(rates.scheduled * factor), rate(rates.completed * factor))}, ${counted(summary.queryCount, 'query', 'queries')}`,
        ),
      );
      if (summary.tokens !== null || !isAnswered) break;
      lines.push(
        ...boundsOfLanes(summary.lanes).map((bound) =>
          row(
            'Bound',
            `${boundInWords(bound, `the ${percent(bound.percentile)}th percentile`)}: ` +
              `seen ${formatNs(bound.valueNs)}, ${counted(bound.aboveCount, 'query', 'queries')} above the bound`,
          ),
        ),
      );
      break;
    case 'Offline':
      lines.push(
        row(
          'Load',
          `Offline, ${summary.completedSampleCount} samples in one query: ${rate(rates.completed)} samples/s`,
        ),
      );
      break;
    default:
      lines.push(
        row(
          'Load',
          `${summary.scenario}, ${counted(summary.queryCount, 'query', 'queries')}, ${counted(summary.completedSampleCount, 'sample')}`,
        ),
        row(
          'Metric',
          `${percent(summary.target.percentile)}th percentile latency ${isAnswered ? formatNs(summary.target.valueNs) : '-'}`,
        ),
      );
  }
  const { queryLatency, sampleLatency, queryCount, completedSampleCount } = summary;
  const latency =
    queryLatency === null
      ? percentiles(sampleLatency, completedSampleCount)
      : percentiles(queryLatency, queryCount);
  lines.push(row('Latency', isAnswered ? latency : '-'));
  lines.push(...lagLines(report, performance));
  if (transportWait !== null) {
    // Percentiles of the one query of Offline are meaningless.
    const values =
      summary.scenario === 'Offline'
        ? formatNs(transportWait.maxNs)
        : percentiles(transportWait, summary.queryCount);
    const wait = `${values}   (taken by the transport - issued: waiting for credit or socket)`;
    lines.push(row('Send wait', wait));
  }
  return [...lines, ...lostLines(performance)];
}

/** Text of the rates; a closed loop has no schedule. */
function ratesText(report: RunReport, scheduled: string, completed: string): string {
  if (isClosedLoop(report)) return `${completed} samples/s completed`;
  return `${scheduled} samples/s scheduled, ${completed} completed`;
}

/** Only for Server outside a closed loop: elsewhere a query is due when it is issued. */
function lagLines(report: RunReport, { dispatchLag, summary }: PerformanceOutcome): string[] {
  if (report.plan.settings.scenario !== 'Server' || isClosedLoop(report)) return [];
  const lag = `${percentiles(dispatchLag, summary.queryCount)}   (issued - scheduled; it is part of the latency)`;
  return [row('Dispatch lag', lag)];
}

function isClosedLoop({ plan: { arrivals } }: RunReport): boolean {
  return arrivals?.kind === 'closed-loop';
}

/** Which samples the figures cover if samples were lost. */
function lostLines(performance: PerformanceOutcome): string[] {
  const { lostSamples, completedSamples } = performance.counts;
  if (lostSamples === 0) return [];
  const what = hasLatency(performance)
    ? `rates, bound and latencies are of the ${completedSamples} samples that completed`
    : 'no sample completed: there are no rates and no latencies';
  return [row('', `${what}; ${lostSamples} were lost`)];
}

function requestedLoad({ outcome: { peakTargetQps }, plan }: RunReport): string {
  if (peakTargetQps !== null) return `at the peak of ${peakTargetQps.toFixed(2)} queries/s`;
  const { arrivals, settings } = plan;
  const qps = Number(settings.serverTargetQps.toPrecision(6));
  if (arrivals === undefined) return `${settings.serverTargetQps} queries/s requested`;
  if (arrivals.kind === 'closed-loop') return `closed loop, ${arrivals.concurrency} at a time`;
  return `arrivals ${arrivals.text}, ${qps} queries/s on average requested`;
}

/** A fraction as a percentage, without rounding noise of binary fractions. */
function percent(fraction: number): string {
  return String(Number((fraction * 100).toFixed(3)));
}

/** Counts of samples with errors, so that every loss is visible. */
function countLines(report: RunReport, phase: string, outcome: PhaseOutcome | null): string[] {
  if (outcome === null || isValid(report)) return [];
  const { counts } = outcome;
  return [
    row(
      'Counts',
      `${phase} run: ${counted(counts.issuedQueries, 'query', 'queries').replaceAll(',', '')} issued, ${counts.completedQueries} completed, ` +
        `${counts.lostQueries} lost; ${counts.issuedSamples} samples issued, ` +
        `${counts.completedSamples} completed, ${counts.lostSamples} lost, ${counts.contractErrors} contract errors`,
    ),
  ];
}

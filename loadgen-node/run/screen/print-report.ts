import { asOneLine, formatNs } from '../../../shared/base/text.ts';
import type { NameCall, NodeNameCall } from '../../../shared/evidence/evidence-schema.ts';
import type {
  PerformanceOutcome,
  PhaseOutcome,
  TestOutcome,
} from '../../loadgen/engine/test-outcome.ts';
import type { LatencyStatistics } from '../../loadgen/results/latency-statistics.ts';
import type { PerformanceSummary } from '../../loadgen/results/summarize.ts';
import { rateFactor } from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import { hasLatency } from '../../observe/figures/figures.ts';
import { adviceOn } from '../../present/text/advice.ts';
import { timeLines } from '../../present/text/print-split.ts';
import { stepTable, stepVerdict } from '../../present/text/report-text.ts';
import { accuracyInWords, isMet, targetInWords } from '../../samples/benchmarks/score-each.ts';
import { dataSetInWords } from '../../samples/data-set/check-data-set.ts';
import { isValid, type RunReport } from '../keep/run-report.ts';

/** Column at which the texts behind the labels begin. */
export const LABEL_WIDTH = 14;
/** `p50 10.6 ms`; the last one, p99.9, has two characters more. */
const PERCENTILE_WIDTH = 11;

/** The result of a run as a person wants to read it, ending with a newline. */
export function printReport(report: RunReport): string {
  const { outcome, plan, summary } = report;
  const files = dataSetInWords(report.dataSetCheck);
  const times = summary === null ? [] : timeLines({ outcome, summary });
  const lines = [
    ...nameLines(report.nameCalls),
    row('Benchmark', `${plan.rules.key} (${plan.rules.title})`),
    row(
      'Samples',
      `${report.dataSetCheck.sampleCount} in ${report.dataSetCheck.name}, sent as ${plan.encodingName}`,
    ),
    ...(files === undefined ? [] : [row('', files)]),
    ...report.models.map((model) => row('Model', model)),
    ...accuracyLines(report),
    ...(outcome.performance === null ? [] : performanceLines(report, outcome.performance)),
    ...stepLines(report),
    ...times.map(([label, text]) => row(label, text)),
    ...searchLines(outcome),
    ...countLines(report, 'accuracy', outcome.accuracy),
    ...countLines(report, 'performance', outcome.performance),
    ...verdictLines(report),
    ...thresholdLines(report),
    row('Logs', outcome.logFiles.summary.replace(/[^/\\]*$/, '')),
    ...report.notes.map((note, i) => row(i === 0 ? 'Please note' : '', note)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Result of each step of the arrivals. */
function stepLines({ loadTest }: RunReport): string[] {
  const steps = loadTest?.steps ?? null;
  if (steps === null) return [];
  const lines = [...stepTable(steps), stepVerdict(steps)];
  return lines.map((line, i) => row(i === 0 ? 'Steps' : '', line));
}

/** Peak of a search, and the extension of a run: LoadGen's own runs have neither. */
function searchLines({ peakTargetQps, performance }: TestOutcome): string[] {
  const lines: string[] = [];
  if (peakTargetQps !== null) {
    lines.push(row('Peak', `${peakTargetQps.toFixed(2)} queries/s keep the latency bound`));
  }
  const extension = performance?.extension ?? null;
  if (extension !== null && extension.count > 0) {
    const end = extension.isDecided ? 'until early stopping decided' : 'without a decision';
    lines.push(row('Extended', `by ${extension.queries} queries, ${end}`));
  }
  return lines;
}

/** Name of the SUT, how long LoadGen's Name() took, and each node's own round trips. */
export function nameLines(calls: readonly NameCall[]): string[] {
  const [first] = calls;
  if (first === undefined) return [];
  const durations = calls.map(({ durationNs }) => formatNs(durationNs));
  return [
    row('SUT', `${first.name}   (Name took ${durations.join(', after the run ')})`),
    ...first.nodes.map((node) => row('', nodeNameLine(node, calls))),
  ];
}

/** A node that did not answer has no round trip; the verdict tells why. */
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

function accuracyLines(report: RunReport): string[] {
  const { outcome, quality, plan } = report;
  const { report: scored, problem } = report.accuracy;
  if (outcome.accuracy === null) return [];
  if (problem !== undefined) return [row('Accuracy', 'none: the result tells why')];
  if (scored === undefined) return [row('Accuracy', 'none: not every sample was answered')];
  const verdict = isMet(scored, quality) ? 'met' : 'NOT met';
  const lines = [
    row('Accuracy', `${accuracyInWords(scored)}, target ${targetInWords(quality)}: ${verdict}`),
  ];
  if (scored.scriptLine !== undefined && plan.rules.isOfficial) {
    lines.push(row('', scored.scriptLine));
  }
  return lines;
}

function performanceLines(report: RunReport, performance: PerformanceOutcome): string[] {
  const { settings } = report.plan;
  const { summary, dispatchLag, transportWait } = performance;
  const { rates } = summary;
  const isAnswered = hasLatency(performance);
  const rate = (perSecond: number): string => (isAnswered ? rateText(perSecond) : '-');
  const factor = rateFactor(report.plan.arrivals, summary.queryCount);
  const lines: string[] = [];
  switch (summary.scenario) {
    case 'Server':
      lines.push(
        row(
          'Load',
          `Server, ${loadAskedFor(report)}: ${rate(rates.scheduled * factor)} samples/s scheduled, ` +
            `${rate(rates.completed * factor)} completed, ${summary.queryCount} queries`,
        ),
      );
      if (summary.tokens !== null || !isAnswered) break;
      lines.push(
        row(
          'Bound',
          `${formatNs(settings.serverTargetLatencyNs)} at the ${percent(summary.target.percentile)}th percentile: ` +
            `seen ${formatNs(summary.target.valueNs)}, ${summary.overlatencyCount} queries above the bound`,
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
          `${summary.scenario}, ${summary.queryCount} queries, ${summary.completedSampleCount} samples`,
        ),
        row(
          'Metric',
          `${percent(summary.target.percentile)}th percentile latency ${isAnswered ? formatNs(summary.target.valueNs) : '-'}`,
        ),
      );
  }
  const latency = summary.queryLatency ?? summary.sampleLatency;
  lines.push(row('Latency', isAnswered ? percentiles(latency) : '-'));
  if (isAnswered) lines.push(...tokenLines(summary, settings));
  // Elsewhere a query is due when it is issued.
  if (summary.scenario === 'Server') {
    const lag = `${percentiles(dispatchLag)}   (issued - scheduled: LoadGen's own delay)`;
    lines.push(row('Dispatch lag', lag));
  }
  if (transportWait !== null) {
    // Percentiles of the one query of Offline say nothing.
    const values =
      summary.scenario === 'Offline' ? formatNs(transportWait.maxNs) : percentiles(transportWait);
    const wait = `${values}   (taken by the transport - issued: waiting for credit or socket)`;
    lines.push(row('Send wait', wait));
  }
  return [...lines, ...lostLines(performance)];
}

/** Of what the figures are where samples were lost. */
function lostLines(performance: PerformanceOutcome): string[] {
  const { lostSamples, completedSamples } = performance.counts;
  if (lostSamples === 0) return [];
  const what = hasLatency(performance)
    ? `rates, bound and latencies are of the ${completedSamples} samples that completed`
    : 'no sample completed: there are no rates and no latencies';
  return [row('', `${what}; ${lostSamples} were lost`)];
}

function loadAskedFor({ outcome: { peakTargetQps }, plan }: RunReport): string {
  if (peakTargetQps !== null) return `at the peak of ${peakTargetQps.toFixed(2)} queries/s`;
  const { arrivals, settings } = plan;
  const qps = Number(settings.serverTargetQps.toPrecision(6));
  if (arrivals === undefined) return `${settings.serverTargetQps} queries/s asked for`;
  return `arrivals ${arrivals.text}, ${qps} queries/s on average asked for`;
}

/** Of a model with tokens; in Server its bounds are about them. */
function tokenLines(
  { tokens, scenario, target }: PerformanceSummary,
  { serverTtftLatencyNs, serverTpotLatencyNs }: TestSettings,
): string[] {
  if (tokens === null) return [];
  const total = `${tokens.tokenCount} output tokens, ${rateText(tokens.completed)} per second`;
  const { firstToken, perOutputToken } = tokens;
  if (firstToken === null || perOutputToken === null) return [row('Tokens', total)];
  const boundText = (ns: number): string =>
    scenario === 'Server'
      ? `   (bound ${formatNs(ns)} at the ${percent(target.percentile)}th percentile)`
      : '';
  return [
    row('Tokens', total),
    row('First token', `${percentiles(firstToken)}${boundText(serverTtftLatencyNs)}`),
    row('Per token', `${percentiles(perOutputToken)}${boundText(serverTpotLatencyNs)}`),
    ...(perOutputToken.meanNs < 0
      ? [row('', "The sum of these times is negative: LoadGen's mean in its logs means nothing")]
      : []),
  ];
}

/** p50, p90, p99 and p99.9 of the statistics. */
function percentiles(statistics: LatencyStatistics): string {
  const shown = statistics.percentiles.filter(({ percentile }) =>
    [0.5, 0.9, 0.99, 0.999].includes(percentile),
  );
  // One below the other in the lines of a result: as wide as the widest.
  return shown
    .map(({ percentile, valueNs }) => `p${percent(percentile)} ${formatNs(valueNs)}`)
    .map((text, i) => text.padEnd(i === shown.length - 1 ? PERCENTILE_WIDTH + 2 : PERCENTILE_WIDTH))
    .join('   ')
    .trimEnd();
}

/** A rate of a run with one query has no length of time to count in. */
function rateText(perSecond: number): string {
  return Number.isFinite(perSecond) ? perSecond.toFixed(2) : '-';
}

/** A fraction as a percentage without the noise of binary fractions. */
function percent(fraction: number): string {
  return String(Number((fraction * 100).toFixed(3)));
}

/** Counts wherever something is wrong: nothing may be lost silently. */
function countLines(report: RunReport, phase: string, outcome: PhaseOutcome | null): string[] {
  if (outcome === null || isValid(report)) return [];
  const { counts, failures } = outcome;
  return [
    row(
      'Counts',
      `${phase} run: ${counts.issuedQueries} queries issued, ${counts.completedQueries} completed, ` +
        `${counts.lostQueries} lost; ${counts.issuedSamples} samples issued, ` +
        `${counts.completedSamples} completed, ${counts.lostSamples} lost, ${counts.contractErrors} contract errors`,
    ),
    ...failures.flatMap(failureLines),
  ];
}

/** A line per text where there are several: a sample may fail for another reason than the first did. */
function failureLines({ code, count, texts }: PhaseOutcome['failures'][number]): string[] {
  const told = texts.reduce((sum, text) => sum + text.count, 0);
  const lines = texts.map((one) => row('', `${one.count} ${code}: ${one.text}`));
  return told === count
    ? lines
    : [...lines, row('', `${count - told} ${code}, for further reasons`)];
}

function verdictLines(report: RunReport): string[] {
  const { outcome } = report;
  if (outcome.isInterrupted)
    return [row('Result', 'INTERRUPTED: the logs are incomplete and say so')];
  if (isValid(report)) return [row('Result', 'VALID')];
  const lines = [row('Result', 'INVALID')];
  const given = new Set<string>();
  for (const reason of outcome.verdicts.longhaul.reasons) {
    const advice = adviceOn(reason, outcome, report.plan.arrivals);
    // Two reasons may have one remedy.
    lines.push(row('', `- ${`${reason.text} ${given.has(advice) ? '' : advice}`.trimEnd()}`));
    given.add(advice);
  }
  if (outcome.verdicts.loadgen.isValid) {
    lines.push(row('', "  LoadGen's own verdict, which ignores such errors, is VALID"));
  }
  return lines;
}

/** Thresholds of the user; they are no part of the verdict by the rules. */
function thresholdLines({ thresholds: results }: RunReport): string[] {
  const lines = results.map(({ text, isMet, seenText }, i) =>
    row(i === 0 ? 'Thresholds' : '', `${text}: ${isMet ? 'met' : 'NOT met'}, seen ${seenText}`),
  );
  const missed = results.filter(({ isMet }) => !isMet).length;
  if (missed > 0) {
    const what = `${missed} of ${results.length} not met: exit code 3; they are yours, and no part of the verdict above`;
    lines.push(row('', what));
  }
  return lines;
}

/** Texts may come from a SUT node: a line of it must stay a line, whatever it holds. */
function row(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH)}${asOneLine(text)}`;
}

import { counted, formatNs, grouped, rounded } from '../../../shared/base/text.ts';
import type { DetailLog } from '../logs/write/detail-log.ts';
import type { TestLogs } from '../logs/write/test-logs.ts';
import { performanceRule } from '../results/bound-verdicts.ts';
import type { KeepingUp } from '../results/queue-growth.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { loadgenName } from '../settings/test-settings.ts';
import { causeOf, explainedBy, latenessInWords, missedLanes, silentWords } from './causes.ts';
import { type EndCause, isBrokenEnd } from './issue/issue-threads.ts';
import type { ContractErrors } from './response-sink.ts';
import type {
  PerformanceOutcome,
  PhaseCounts,
  PhaseOutcome,
  Silence,
  TestOutcome,
  Verdict,
  VerdictReason,
} from './test-outcome.ts';

/** A defect of the SUT outside the phases. */
export type SutProblem = Omit<VerdictReason, 'key'>;

/** Test results that the verdicts are computed from. */
type Results = Omit<TestOutcome, 'verdicts' | 'failures'>;

/**
 * Makes LoadGen's and longhaul's verdict, which stay separate.
 * @param contractErrors Count over the whole test.
 * @param sutProblems Defects of the SUT outside the phases: name changed, stop failed, ...
 */
export function makeVerdicts(
  results: Results,
  contractErrors: Pick<ContractErrors, 'count' | 'wrongCount'>,
  sutProblems: readonly SutProblem[],
): TestOutcome['verdicts'] {
  const { accuracy, performance, effectiveSettings } = results;
  // Faults come before the rules that fail because of them.
  const ofAccuracy = accuracy === null ? [] : endReasons('accuracy', accuracy);
  const ofPerformance = performanceReasons(results, ofAccuracy);
  const cause = causeOf(performance);
  const explained = explainedBy(cause, performance, effectiveSettings);
  const ofLanes = laneReasons(performance, effectiveSettings);
  const longhaul = [
    ...ofAccuracy,
    // Reasons per lane are more precise than one for the whole run.
    ...ofPerformance.filter(({ rule }) => ofLanes.length === 0 || rule !== 'latency-bound'),
    ...[...ofLanes, ...longhaulReasons(results, contractErrors, sutProblems)],
  ].filter((one) => ofAccuracy.includes(one) || !explained.includes(one.rule));
  const loadgen = [...ofAccuracy, ...ofPerformance];
  const verdict = verdictOf(longhaul, performance?.isSutSlow);
  return {
    loadgen: verdictOf(loadgen),
    longhaul: { ...verdict, cause: verdict.isValid ? null : cause },
  };
}

export function wantsAccuracy({ mode }: EffectiveSettings): boolean {
  return mode === 'AccuracyOnly' || mode === 'SubmissionRun';
}

export function wantsPerformance({ mode }: EffectiveSettings): boolean {
  return mode !== 'AccuracyOnly';
}

/** True if a search ended without finding a peak. */
function isSearchUnfinished({ effectiveSettings, peakTargetQps }: Results): boolean {
  return effectiveSettings.mode === 'FindPeakPerformance' && peakTargetQps === null;
}

/**
 * Reasons in the order to look at: a cause before its effects on the figures, the rate before the
 * length of a run.
 */
const FIRST_REASONS: readonly string[] = [
  'interrupted',
  'fault',
  'stall',
  'all-failed',
  'lost-samples',
  'contract-errors',
];
const LAST_REASONS: readonly string[] = [
  'generator-bound',
  'not-kept-up',
  'latency-bound',
  'find-peak',
  'min-duration',
  'min-queries',
  'early-stopping',
];

function placeOf({ rule }: VerdictReason, isSutSlow: boolean): number {
  // Fixing LoadGen's schedule alone would not help.
  if (rule === 'generator-bound' && isSutSlow)
    return FIRST_REASONS.length + LAST_REASONS.length + 1;
  const first = FIRST_REASONS.indexOf(rule);
  return first < 0 ? FIRST_REASONS.length + LAST_REASONS.indexOf(rule) + 1 : first;
}

/** Verdict with its reasons in the order to look at. */
function verdictOf(reasons: readonly VerdictReason[], isSutSlow = false): Verdict {
  const ordered = [...reasons].sort((a, b) => placeOf(a, isSutSlow) - placeOf(b, isSutSlow));
  return { isValid: reasons.length === 0, reasons: ordered };
}

/** LoadGen's reasons, after those of the accuracy run. */
function performanceReasons(
  results: Results,
  ofAccuracy: readonly VerdictReason[],
): VerdictReason[] {
  const { accuracy, performance, effectiveSettings: settings, isInterrupted } = results;
  const reasons: VerdictReason[] = [];
  if (performance !== null) {
    reasons.push(...endReasons('performance', performance), ...judgedReasons(performance, results));
  }
  if (isSearchUnfinished(results) && performance === null && !isInterrupted) {
    reasons.push(noPeak());
    return reasons;
  }
  const isMissing =
    (wantsAccuracy(settings) && accuracy === null) ||
    (wantsPerformance(settings) && performance === null);
  const isTold = [...ofAccuracy, ...reasons].some(
    ({ rule }) => rule === 'interrupted' || rule === 'fault',
  );
  if (isMissing && !isTold) reasons.push(missingPhase(isInterrupted));
  return reasons;
}

/** Reasons by LoadGen's four rules; if another LoadGen issued the queries, by its own verdict. */
function judgedReasons(performance: PerformanceOutcome, results: Results): VerdictReason[] {
  const reasons = ruleReasons(performance, results.effectiveSettings);
  if (results.driver === null) return reasons;
  const { isValid } = results.driver;
  if (isValid === true) return [];
  if (isValid === false && reasons.length > 0) return reasons;
  const seen = isValid === undefined ? 'no result_validity' : 'INVALID';
  const text = `The C++ LoadGen's own log says: ${seen}.`;
  return [reason('cpp-loadgen', text, 'VALID', seen)];
}

/** LoadGen's four rules. */
function ruleReasons(outcome: PerformanceOutcome, settings: EffectiveSettings): VerdictReason[] {
  const { validity } = outcome.summary;
  const lengthKey = keyOfLength(outcome.endCause, settings);
  const loadKey = keyOfLoad(settings);
  const stoppingKey = validity.performance.isMet ? 'min_query_count' : loadKey;
  const lacking = 'Too few queries for the confidence that early stopping asks for';
  const rules = [
    ['latency-bound', 'The latency bound was missed', validity.performance, loadKey],
    ['min-duration', 'The run was too short', validity.minDuration, lengthKey],
    ['min-queries', 'Too few queries or samples', validity.minQueries, lengthKey],
    ['early-stopping', lacking, validity.earlyStopping, stoppingKey],
  ] as const;
  return rules
    .filter(([, , { isMet }]) => !isMet)
    .map(([rule, what, { needed, seen }, key]) =>
      reason(rule, `${what}: needed is ${needed}, seen was ${seen}.`, needed, seen, key),
    );
}

/** Reasons for each lane that misses its bounds, if there are several lanes. */
function laneReasons(
  performance: PerformanceOutcome | null,
  settings: EffectiveSettings,
): VerdictReason[] {
  if (performance === null || settings.lanes.length === 1) return [];
  return missedLanes(performance.summary).map(({ name, bounds }) => {
    const { needed, seen } = performanceRule(bounds);
    const text = `The latency bound of lane ${name} was missed: needed is ${needed}, seen was ${seen}.`;
    return reason('latency-bound', text, needed, seen, keyOfLoad(settings));
  });
}

function reason(
  rule: string,
  text: string,
  needed: string,
  seen: string,
  key: string | null = null,
): VerdictReason {
  return { rule, text, needed, seen, key };
}

/** The setting that lowers the load. */
function keyOfLoad({ scenario }: EffectiveSettings): string {
  return scenario === 'MultiStream' ? 'multi_stream_samples_per_query' : 'server_target_qps';
}

/** The setting that kept a run short. */
function keyOfLength(cause: EndCause, { scenario }: EffectiveSettings): string | null {
  if (cause === 'max-query-count') return 'max_query_count';
  if (cause === 'max-duration') return 'max_duration_ms';
  if (cause === 'max-async') return 'server_max_async_queries';
  if (isBrokenEnd(cause) || cause === 'driver') return null;
  const keys = {
    SingleStream: 'single_stream_expected_latency_ns',
    MultiStream: 'multi_stream_expected_latency_ns',
    Server: 'server_target_qps',
    Offline: 'offline_expected_qps',
  };
  return keys[scenario];
}

/** Reasons for ends at which the C++ LoadGen would have gone on. */
function endReasons(phase: string, outcome: PhaseOutcome): VerdictReason[] {
  const { counts, endCause, faultText } = outcome;
  const reasons: VerdictReason[] = [];
  const lost = `${counts.lostSamples} of ${counts.issuedSamples} issued samples`;
  const first = outcome.failures[0]?.texts[0];
  if (counts.lostSamples > 0) {
    const text = `${lost} of the ${phase} run were lost${first === undefined ? '' : ` (first: ${first.text})`}.`;
    const seen = `${counts.lostSamples} lost samples`;
    reasons.push(reason('lost-samples', text, '0 lost samples', seen));
  }
  if (endCause === 'all-failed') {
    const how = first === undefined ? '' : ` (first: ${first.text})`;
    const text = `Every sample of the ${phase} run failed from its beginning on${how}, so it was ended.`;
    reasons.push(reason('all-failed', text, 'samples that are answered', 'none'));
  }
  // These two explain the samples that were lost.
  const cost = counts.lostSamples === 0 ? '' : ` ${lost} were lost.`;
  if (endCause === 'fault') {
    const { faultAtNs } = outcome;
    const when = faultAtNs === null ? '' : ` (after ${formatNs(faultAtNs)})`;
    const text = `The SUT broke during the ${phase} run: ${faultText ?? 'no reason given'}${when}.${cost}`;
    reasons.push(reason('fault', text, 'no fault', 'a fault'));
  }
  if (outcome.silence !== null) {
    const text = `The SUT ${silenceText(phase, outcome.silence, counts)}.${cost}`;
    const seen = `none for ${formatNs(outcome.silence.lastedNs)}`;
    reasons.push(reason('stall', text, 'a response within the stall timeout', seen));
  }
  if (endCause === 'interrupted') reasons.push(interrupted(phase));
  if (endCause === 'decided') {
    const text = `The ${phase} run was ended as soon as enough was seen: its numbers are those of a part.`;
    reasons.push(reason('decided', text, 'a whole run', 'a part of it'));
  }
  return reasons;
}

function silenceText(phase: string, silence: Silence, counts: PhaseCounts): string {
  const { fromNs, lastedNs, waitingSamples } = silence;
  const when = counts.completedSamples === 0 ? '' : `, from ${formatNs(fromNs)} on`;
  const how = `no sample completed for ${formatNs(lastedNs)}${when}, and ${grouped(waitingSamples)} waited`;
  return `${silentWords(silence, counts)} during the ${phase} run: ${how}`;
}

function interrupted(phase: string): VerdictReason {
  const text = `The ${phase} run was interrupted: its numbers are those of a part.`;
  return reason('interrupted', text, 'a whole run', 'a part of it');
}

function missingPhase(isInterrupted: boolean): VerdictReason {
  if (isInterrupted) return interrupted('whole');
  const text = 'The SUT broke before the first query of a run.';
  return reason('fault', text, 'no fault', 'a fault');
}

function noPeak(): VerdictReason {
  return reason(
    'find-peak',
    'The search for the peak performance did not finish; the detail log states why.',
    'a rate that keeps the latency bound, and one that does not',
    'no such pair',
    'server_target_qps',
  );
}

/** Reasons for faults that LoadGen only logs, or does not see, but that longhaul rejects. */
function longhaulReasons(
  results: Results,
  contractErrors: Pick<ContractErrors, 'count' | 'wrongCount'>,
  sutProblems: readonly SutProblem[],
): VerdictReason[] {
  const { performance } = results;
  const reasons: VerdictReason[] = sutProblems.map((problem) => ({ ...problem, key: null }));
  if (isSearchUnfinished(results) && performance !== null) reasons.push(noPeak());
  if (performance?.isGeneratorBound) {
    const { generatorBoundReason, generatorLimit } = performance;
    const text = `LoadGen itself was ${latenessInWords(performance)}, so the result is not the SUT's alone: ${generatorBoundReason}.`;
    reasons.push(
      reason('generator-bound', text, generatorLimit?.needed ?? '', generatorLimit?.seen ?? ''),
    );
  }
  const kept = performance?.course.keepingUp;
  if (kept?.state === 'grew') reasons.push(notKeptUp(kept));
  const { count, wrongCount } = contractErrors;
  if (count > 0) {
    const wrong = wrongCount === 0 ? '' : ` (${wrongCount} have not the bytes of their sample)`;
    const text = `The SUT broke the contract ${counted(count, 'time')} with its responses${wrong}; the detail log names them.`;
    const seen = `${count} contract errors`;
    reasons.push(reason('contract-errors', text, '0 contract errors', seen));
  }
  return reasons;
}

function notKeptUp({ share, answeredPerSecond, scheduledPerSecond }: KeepingUp): VerdictReason {
  const [answered, scheduled] = [rounded(answeredPerSecond, 3), rounded(scheduledPerSecond, 3)];
  const growth = rounded((share ?? 0) * scheduledPerSecond, 2);
  const text =
    `The SUT did not keep up with the load: it completed ${answered} of ${scheduled} queries per second, ` +
    `and while they were issued ${growth} more waited each second.`;
  const needed = `${scheduled} queries/s completed`;
  return reason('not-kept-up', text, needed, `${answered} queries/s`, 'server_target_qps');
}

/**
 * Writes longhaul's verdict after LoadGen's results: keys that no official tool reads; in the
 * summary, lines only if there is something to report.
 */
export function writeVerdict(
  logs: TestLogs,
  outcome: Pick<TestOutcome, 'accuracy' | 'performance' | 'verdicts' | 'isInterrupted'>,
  notes: readonly string[],
): void {
  const { accuracy, performance, verdicts, isInterrupted } = outcome;
  if (accuracy !== null) writeCounts(logs.detail, 'accuracy', accuracy.counts);
  if (performance !== null) {
    writeCounts(logs.detail, 'performance', performance.counts);
    logs.detail.boolean('longhaul_generator_bound', performance.isGeneratorBound);
    const { firstQueries: found } = performance;
    if (found !== null) {
      logs.detail.integer('longhaul_first_query_pairs', found.pairCount);
      logs.detail.integer('longhaul_first_query_repeat_faster', found.repeatFasterCount);
      logs.detail.integer('longhaul_first_query_first_faster', found.firstFasterCount);
    }
  }
  const { isValid, reasons } = verdicts.longhaul;
  logs.detail.text('longhaul_validity', isValid ? 'VALID' : 'INVALID');
  for (const { text } of reasons) logs.detail.text('longhaul_invalid_reason', text);
  for (const note of notes) logs.detail.text('longhaul_note', note);
  if (notes.length > 0) logs.appendSummary(`\nPlease note:\n${listOf(notes)}`);
  if (isInterrupted) logs.appendSummary('\nINCOMPLETE: the test was interrupted.\n');
  if (isValid) return;
  logs.appendSummary(`\nlonghaul's verdict : INVALID\n${listOf(reasons.map(({ text }) => text))}`);
}

function listOf(texts: readonly string[]): string {
  return texts.map((text) => ` * ${text.replaceAll(/[\r\n]+/g, ' ')}\n`).join('');
}

function writeCounts(log: DetailLog, phase: string, counts: PhaseCounts): void {
  for (const [name, count] of Object.entries(counts)) {
    log.integer(`longhaul_${phase}_${loadgenName(name)}`, count);
  }
}

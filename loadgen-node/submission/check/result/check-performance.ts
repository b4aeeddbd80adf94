import { posix } from 'node:path';
import { NETWORK_SUT } from '../../../../shared/domain/system-under-test.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../../../loadgen/logs/read/summary-log.ts';
import { metricOf, resultMetric } from '../../rules/result-metric.ts';
import { seedsOfRound, test05SeedsOfRound } from '../../rules/round-seeds.ts';
import { modelInScenario, type SubmissionModel } from '../../rules/submission-model.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { TestId } from '../../rules/test-ids.ts';
import type { CheckContext } from '../read/check-context.ts';
import { isTrue } from '../read/description-values.ts';
import { isStrict, type ResultSite } from '../read/result-site.ts';
import { type RunLog, readRunLog, wholeMessage } from '../read/run-log.ts';
import { checkLatencies } from './check-latencies.ts';

/** Duration that every run is set to at least, in ms. */
const MIN_DURATION_MS = 600_000;

/** Seed of the sampled accuracy log of the compliance tests. Source: their audit.config. */
const SAMPLING_SEED = 720381539243781796n;

/**
 * Checks the logs of a performance run: that of a result, or of a compliance test.
 * @param folder performance/run_1.
 * @returns The log; undefined where there is none to look at.
 */
export async function checkPerformanceRun(
  context: CheckContext,
  site: ResultSite,
  folder: string,
  test?: TestId,
): Promise<RunLog | undefined> {
  const log = await readRunLog(context, folder);
  if (log === undefined) return undefined;
  const { round } = context;
  const seeds = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  log.checkSeeds(seeds ?? seedsOfRound(round), 'seed-wrong', true);
  checkScenarioAndMode(log, site);
  checkVerdict(log);
  checkSettings(log, test);
  checkSutName(log, site, test);
  const model = site.model === undefined ? undefined : modelInScenario(site.model, site.scenario);
  checkAmounts(log, site, model);
  checkEqualIssue(log, site, { model, round });
  if (model !== undefined) checkLatencies(log, site, model, round);
  await checkSummary(context, folder, log);
  return log;
}

function checkScenarioAndMode(log: RunLog, { measured }: ResultSite): void {
  const expected = measured === 'Interactive' ? 'Server' : measured;
  const seen = log.text('effective_scenario');
  if (seen !== undefined && seen !== expected) {
    log.tellOf('scenario-differs', 'effective_scenario', `It is ${seen}, not ${expected}.`);
  }
  const mode = log.record('effective_test_mode')?.value;
  if (mode !== undefined && mode !== 'PerformanceOnly' && mode !== 'SubmissionRun') {
    log.tellOf('mode-differs', 'effective_test_mode', `It is ${String(mode)}.`);
  }
}

function checkVerdict(log: RunLog): void {
  const validity = log.text('result_validity');
  if (validity === undefined) return;
  if (validity !== 'VALID') {
    log.tellOf('result-invalid', 'result_validity', `result_validity is ${validity}.`);
    return;
  }
  for (const key of [
    'result_perf_constraints_met',
    'result_min_duration_met',
    'result_min_queries_met',
  ]) {
    if (log.boolean(key) === false) {
      log.tellOf('constraint-not-met', key, `${key} is false, though the result is VALID.`);
    }
  }
}

/** Whether the settings of a compliance test are there exactly where they belong. */
function checkSettings(log: RunLog, test: TestId | undefined): void {
  const isSame = log.boolean('effective_performance_issue_same');
  const isUnique = log.boolean('effective_performance_issue_unique');
  const target = log.optionalNumber('effective_accuracy_log_sampling_target');
  const id = test === undefined ? 'audit-in-result' : 'test-settings-wrong';
  const what = test ?? 'a result';
  if (isSame !== undefined && isSame !== (test === 'TEST04')) {
    const text = `performance_issue_same is ${isSame}, which is not that of ${what}.`;
    log.tellOf(id, 'effective_performance_issue_same', text);
  }
  if (isUnique === true) {
    const text = `performance_issue_unique is true, which is not that of ${what}.`;
    log.tellOf(id, 'effective_performance_issue_unique', text);
  }
  if (target !== undefined && target > 0 !== (test === 'TEST01')) {
    const text = `accuracy_log_sampling_target is ${target}, which is not that of ${what}.`;
    log.tellOf(id, 'effective_accuracy_log_sampling_target', text);
  }
  if (test === 'TEST01') checkSamplingSeed(log);
}

function checkSamplingSeed(log: RunLog): void {
  const seed = log.record('effective_accuracy_log_rng_seed')?.value;
  if (seed === undefined || String(seed) === String(SAMPLING_SEED)) return;
  const text = `accuracy_log_rng_seed is ${String(seed)}, not ${SAMPLING_SEED}.`;
  log.tellOf('test-settings-wrong', 'effective_accuracy_log_rng_seed', text);
}

function checkSutName(
  log: RunLog,
  { division, description }: ResultSite,
  test: TestId | undefined,
): void {
  const isNetwork = division === 'network' || isTrue(description?.['is_network']);
  const name = isNetwork ? log.text('sut_name') : log.optionalText('sut_name');
  if (name === undefined) return;
  if (division === 'closed') {
    // Once for a result with all of its tests.
    if (test === undefined && name.includes(NETWORK_SUT))
      log.tellOf('closed-over-network', 'sut_name', `It is "${name}".`);
    return;
  }
  if (!isNetwork || name.includes(NETWORK_SUT)) return;
  log.tellOf('sut-name', 'sut_name', `The name is "${name}", without "${NETWORK_SUT}".`);
}

/** Counts and lengths, and the number that is the result; those of any run where the model is not known. */
function checkAmounts(log: RunLog, site: ResultSite, model: SubmissionModel | undefined): void {
  const { scenario, measured } = site;
  const least: [key: string, count: number, id: Parameters<RunLog['tell']>[0]][] = [
    [
      'effective_performance_sample_count',
      model?.performanceSamples ?? 0,
      'performance-samples-few',
    ],
    ['effective_min_duration_ms', MIN_DURATION_MS, 'duration-short'],
  ];
  if (measured === 'Offline') {
    least.push(
      ['effective_min_query_count', 1, 'queries-few'],
      ['effective_samples_per_query', model?.offlineSamples ?? 1, 'offline-samples-few'],
    );
  }
  for (const [key, count, id] of least) {
    const seen = log.number(key);
    if (seen !== undefined && seen < count) {
      log.tellOf(id, key, `${key} is ${seen}; at least ${count} are needed.`);
    }
  }
  // A metric in tokens stands beside the one in samples, and the tools read both.
  const metrics = new Set([metricOf(model, scenario, measured), resultMetric(undefined, measured)]);
  for (const metric of metrics) {
    const value = log.optionalNumber(metric);
    if (value !== undefined && value > 0) continue;
    log.tellOf('metric-missing', metric, `${metric} is ${value ?? 'missing'}.`);
  }
}

/**
 * Models with samples of unlike length. The tool of v4.1 reads the configuration beside the result, the later ones
 * the log; that of v5.1 in open as well.
 */
function checkEqualIssue(
  log: RunLog,
  site: ResultSite,
  { model, round }: { model: SubmissionModel | undefined; round: SubmissionRound },
): void {
  if (model?.isEqualIssue !== true || (!isStrict(site) && round !== 'v5.1')) return;
  const key = 'effective_sample_concatenate_permutation';
  const record = log.record(key);
  if (record === undefined && round === 'v4.1') return;
  if (record?.value === true) return;
  log.tellOf(
    'equal-issue-off',
    key,
    record === undefined ? `It has no record of ${key}.` : `${key} is ${String(record.value)}.`,
  );
}

/** Labels of the rate in the summary, by LoadGen's key in the detail log. */
const RATES: readonly [key: string, label: string][] = [
  ['result_completed_samples_per_sec', 'Completed samples per second'],
  ['result_samples_per_second', 'Samples per second'],
];

/** Largest difference of a rate in the summary, which has two decimals. */
const RATE_TOLERANCE = 0.0051;

async function checkSummary(context: CheckContext, folder: string, log: RunLog): Promise<void> {
  const { listing, findings } = context;
  const file = posix.join(folder, RUN_FILES.summary);
  if (!listing.hasFile(file)) return;
  const summary = await readSummaryLog(listing.pathOf(file)).catch((error: unknown) => {
    findings.add('no-plain-file', file, `It cannot be read: ${wholeMessage(error)}.`);
  });
  if (summary === undefined) return;
  const { values, errorCount } = summary;
  if (errorCount > 0) findings.add('errors-in-summary', file, `It counts ${errorCount} error(s).`);
  const rate = RATES.find(([key]) => log.record(key) !== undefined);
  const labels = ['Scenario', 'Result is', ...(rate === undefined ? [] : [rate[1]])];
  const missing = labels.filter((label) => !values.has(label));
  if (missing.length > 0) {
    findings.add('summary-unusable', file, `It has no line of ${missing.join(', ')}.`);
    return;
  }
  const pairs: [label: string, key: string][] = [
    ['Scenario', 'effective_scenario'],
    ['Result is', 'result_validity'],
    ['SUT name', 'sut_name'],
  ];
  for (const [label, key] of pairs) {
    const record = log.record(key);
    const seen = values.get(label);
    if (record === undefined || seen === undefined || seen === String(record.value)) continue;
    const text = `"${label}" is ${seen}, in the detail log ${String(record.value)}.`;
    findings.add('summary-differs', file, text);
  }
  if (rate === undefined) return;
  const [key, label] = rate;
  const seen = Number(values.get(label));
  const logged = log.optionalNumber(key) ?? 0;
  if (Math.abs(seen - logged) <= RATE_TOLERANCE * Math.max(1, logged)) return;
  findings.add('summary-differs', file, `"${label}" is ${seen}, in the detail log ${logged}.`);
}

import { counted } from '../../../../shared/base/text.ts';
import { NETWORK_SUT } from '../../../../shared/domain/system-under-test.ts';
import { isNumber, MARKED_BYTE_ORDER } from '../../../loadgen/logs/read/detail-log.ts';
import { loadgenScenario } from '../../rules/submission-model.ts';
import {
  roundsUpTo,
  SEED_NAMES,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../rules/submission-rounds.ts';
import { isTrue } from '../read/description-values.ts';
import type { RunLog, SeenRecord } from '../read/run-log.ts';
import type { Answer, ResultSite, RunFacts } from '../read/sites.ts';
import { BOUND, isServer, tokenBounds } from './performance-rules.ts';
import {
  complianceTests,
  inferenceRules,
  main,
  type RuleTable,
  STRICT,
  tag,
  tagLog,
} from './rule.ts';
import { nameWithoutNetwork } from './sut-name-rules.ts';

/** A year: logs further apart were not made for one result. */
const DAYS_APART_MAX = 366;

/** Seed of the sampled accuracy log of the compliance tests. Source: their audit.config. */
const SAMPLING_SEED = 720381539243781796n;

/** Damage of a log whose last line is incomplete. */
const CUT_RECORD = 'the file ends inside a record';

/** Rules about the logs of a run. */
export const RUN_RULES = {
  'log-empty': {
    by: [tag('check_performance_dir'), main('LoadgenParser.__init__')],
    rule: 'A detail log has records.',
    advice: 'Copy the log again; make the run again if it is lost.',
    log: ({ log: { detail } }) =>
      detail.records.size === 0 && `It has ${counted(detail.lineCount, 'line')} and no record.`,
  },
  'log-first-line': {
    by: [main('LoadgenParser.__init__')],
    rule: 'The first line of a detail log is a record.',
    because: 'submission_checker/main.py breaks off at such a log',
    advice: 'Remove the lines in front of the first :::MLLOG.',
    log: ({ log }) => {
      const { beginsWithRecord, damages, records } = log.detail;
      const isMarked = damages.some(({ text }) => text === MARKED_BYTE_ORDER);
      const isOther = records.size > 0 && !beginsWithRecord && !isMarked;
      return [
        ...damagesOf(log, (text) => text === MARKED_BYTE_ORDER),
        isOther && { line: 1, text: 'Its first line is no record.' },
      ];
    },
  },
  'log-damaged': {
    by: [tagLog('MLPerfLog.__init__'), main('LoadgenParser.__init__')],
    rule: 'Every line with :::MLLOG is a whole record.',
    advice: 'Copy the log again; never edit a log.',
    log: ({ log }) => damagesOf(log, (text) => text !== CUT_RECORD && text !== MARKED_BYTE_ORDER),
  },
  'log-cut': {
    by: [tagLog('MLPerfLog.__init__'), main('LoadgenParser.__init__')],
    rule: 'The log is complete to its last record.',
    advice: 'Copy the log again.',
    log: ({ log }) => damagesOf(log, (text) => text === CUT_RECORD),
  },
  'record-missing': {
    by: [
      tag('check_performance_dir'),
      main('PerformanceCheck.performance_sample_count_check'),
      main('AccuracyCheck.dataset_check'),
    ],
    rule: 'The detail log has every record that the official tools read.',
    advice: 'Take the log of a run of LoadGen of the round.',
    performance: (run) => missingRecords(run.log, [...neededTexts(run), ...neededNumbers(run)]),
    // Tools up to v4.1 do not require the count.
    accuracy: ({ log, round, model }) =>
      !roundsUpTo('v4.1').includes(round) &&
      model !== undefined &&
      missingRecords(log, [sampleCountKey(log)]),
  },
  'record-not-number': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.seeds_check')],
    rule: 'Values that the official tools compare are JSON numbers, not texts.',
    advice: 'Take the log as LoadGen wrote it.',
    performance: (run) => [
      ...seedKeys().map((key) => noNumber(run.log, key, 'no number')),
      ...neededNumbers(run).map((key) => noNumber(run.log, key, 'which is no number')),
    ],
    accuracy: ({ log, round, model }) => [
      ...seedKeys().map((key) => noNumber(log, key, 'no number')),
      !roundsUpTo('v4.1').includes(round) &&
        model !== undefined &&
        noNumber(log, sampleCountKey(log), 'which is no number'),
    ],
  },
  'error-in-log': {
    by: [
      tag('find_error_in_detail_log'),
      inferenceRules('LoadGen Operation'),
      main('AccuracyCheck.loadgen_errors_check'),
    ],
    rule: 'The log has no error records.',
    advice: 'Find the reason and make the run again.',
    log: ({ log }) =>
      log.detail.errors.map(({ key, value, line }) => ({
        line,
        text: `${key}: ${String(value)}.`,
      })),
  },
  'result-invalid': {
    by: [tag('check_performance_dir'), inferenceRules('Scenarios')],
    rule: 'result_validity is VALID.',
    advice: 'Make a run that is VALID: a lower target QPS, or a longer run.',
    performance: ({ log }) =>
      log.wrong(
        'result_validity',
        (validity) => validity !== 'VALID' && `result_validity is ${String(validity)}.`,
      ),
  },
  'constraint-not-met': {
    by: [inferenceRules('Scenarios')],
    rule: "LoadGen's own checks of duration, queries and bounds are met.",
    advice: 'Make the run again.',
    performance: ({ log }) =>
      ['perf_constraints', 'min_duration', 'min_queries'].map((name) => {
        const key = `result_${name}_met`;
        const isOdd = log.value('result_validity') === 'VALID' && log.value(key) === false;
        return isOdd && log.at(key, `${key} is false, though the result is VALID.`);
      }),
  },
  'record-twice': {
    by: [],
    rule: 'The log has one value for each setting and result.',
    because: 'a log is of one run, and the official checks read the first value',
    advice: 'Take the log of one run, as LoadGen wrote it.',
    log: ({ log }) =>
      log.detail.repeats.map(({ key, value, line }) => {
        const first = log.record(key);
        const other = `in line ${first?.line} ${String(first?.value)}`;
        return { line, text: `${key} is ${String(value)}, and ${other}.` };
      }),
  },
  'seed-wrong': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.seeds_check')],
    rule: 'The three seeds are those of the round; in TEST05 (to v4.1) its own.',
    advice: "Run with the round's mlperf.conf (--round), or check the tree as its own round.",
    adviceIfOnlyJudged:
      'Run with the C++ LoadGen of the round and its mlperf.conf, or check the tree as its own round.',
    performance: (run) => wrongSeeds(run, false),
  },
  'seed-rounded': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.seeds_check')],
    rule: 'Seeds have all digits of their 64 bits.',
    advice: 'Take the log as LoadGen wrote it; a tool has rewritten its numbers.',
    performance: (run) => wrongSeeds(run, true),
    accuracy: (run) => wrongSeeds(run, true),
  },
  'accuracy-seed-wrong': {
    by: [],
    rule: 'An accuracy run has the seeds of the round, too.',
    because: 'mlperf.conf sets them for both modes; an accuracy does not depend on them',
    advice: "Run with the round's mlperf.conf (--round).",
    adviceIfOnlyJudged: 'Run with the C++ LoadGen of the round and its mlperf.conf.',
    accuracy: (run) => wrongSeeds(run, false),
  },
  'scenario-differs': {
    by: [
      inferenceRules('Constraints for the Closed division', { divisions: STRICT }),
      tag('check_performance_dir', { until: 3.0 }),
      tag('get_inferred_result', { since: 3.1 }),
      main('PerformanceCheck.inferred_check'),
    ],
    rule: 'effective_scenario is the scenario of the folder (Interactive: Server).',
    advice:
      'Put the logs into the folder of their scenario. An edge system may infer MultiStream from SingleStream, and Offline from either: its folders are copies of the measured result, which is there as well.',
    performance: scenarioDiffers,
    accuracy: scenarioDiffers,
  },
  'result-inferred': {
    severity: 'note',
    by: [inferenceRules('Constraints for the Closed division', { divisions: STRICT })],
    rule: 'An edge system may infer a result from another scenario, with copies of its folders.',
    advice: 'No action, if this is intended.',
  },
  'inferred-in-datacenter': {
    by: [],
    rule: 'A system of both suites measures a scenario that the datacenter suite asks for.',
    because:
      'the rules let edge submitters infer it, and the official checks take it of every edge system',
    advice: 'Measure the scenario, or submit the system to the edge suite alone.',
  },
  'mode-differs': {
    by: [inferenceRules('LoadGen Operation')],
    rule: 'Logs in performance/ are of a performance run, logs in accuracy/ of an accuracy run.',
    advice: 'Put the logs into the folder of their mode.',
    performance: ({ log }) => modeDiffers(log, 'PerformanceOnly'),
    accuracy: ({ log }) => modeDiffers(log, 'AccuracyOnly'),
  },
  'runs-far-apart': {
    by: [],
    rule: 'The runs of a result were made close together in time.',
    because: 'reviewers ask',
    advice: 'Take the logs of the runs of this result.',
    read: ({ runs }) => {
      const [log, accuracy] = [runs.get('performance'), runs.get('accuracy')];
      const [one, other] = [log, accuracy].map((run) => run?.value('test_datetime'));
      const days = Math.abs(Date.parse(String(one)) - Date.parse(String(other))) / 86_400_000;
      const text = `test_datetime is ${String(other)}, that of the performance run ${String(one)}.`;
      return days > DAYS_APART_MAX && accuracy?.at('test_datetime', text);
    },
  },
  'audit-in-result': {
    by: [inferenceRules('LoadGen Operation'), complianceTests('Test Methodology')],
    rule: "A result's run does not have a compliance test's settings.",
    advice: 'Take the logs of the run without audit.config.',
    performance: (run) => run.test === undefined && issueSettings(run),
  },
  'sampling-in-result': {
    by: [complianceTests('Test Methodology', { divisions: STRICT })],
    rule: "A result's run does not log a part of its responses, as TEST01 does.",
    because: 'open has no compliance tests, whose audit.config was there',
    advice: 'Take the logs of the run without audit.config.',
    performance: (run) => run.test === undefined && samplingSettings(run),
  },
  'sut-name': {
    by: [
      inferenceRules('QDL Constraints'),
      tag('check_performance_dir'),
      main('PerformanceCheck.network_check'),
    ],
    rule: 'The name of the SUT contains "Network SUT".',
    advice: 'Give the SUT such a name and make the run again.',
    performance: (run) =>
      run.division !== 'closed' && isOverNetwork(run) && nameWithoutNetwork(run),
  },
  'closed-over-network': {
    by: [],
    rule: 'The SUT name of a closed result does not contain "Network SUT".',
    because: 'the official checks look at the description (is_network), not at the log',
    advice: 'Submit the result to network, or measure the SUT in the process of LoadGen.',
    // Once for a result with all of its tests.
    performance: ({ log, division, test }) =>
      division === 'closed' &&
      test === undefined &&
      log.wrong(
        'sut_name',
        (name) => String(name).includes(NETWORK_SUT) && `It is "${String(name)}".`,
      ),
  },
} as const satisfies RuleTable;

/** Damages of a log whose text matches. */
function damagesOf({ detail }: RunLog, isMeant: (text: string) => boolean) {
  return detail.damages
    .filter(({ text }) => isMeant(text))
    .map(({ line, text }) => ({ line, text: `In line ${line}, ${text}.` }));
}

/** True in the network division, and if the description says so. */
function isOverNetwork({ division, description }: ResultSite): boolean {
  return division === 'network' || isTrue(description?.['is_network']);
}

function missingRecords(log: RunLog, keys: readonly string[]): string[] {
  return keys
    .filter((key) => log.record(key) === undefined)
    .map((key) => `It has no record of ${key}.`);
}

/** Finding for a record that exists but is not a number. */
function noNumber(log: RunLog, key: string, why: string): SeenRecord | false {
  return log.wrong(
    key,
    (value) => !isNumber(value) && `${key} is ${JSON.stringify(value)}, ${why}.`,
  );
}

function seedKeys(): string[] {
  return SEED_NAMES.map((name) => `effective_${name}`);
}

/** Records that a performance run requires, with any value. */
function neededTexts(run: RunFacts): string[] {
  const name = isOverNetwork(run) ? ['sut_name'] : [];
  return [...seedKeys(), 'effective_scenario', 'result_validity', ...name];
}

/** Records that a performance run requires, with numeric values. */
function neededNumbers(run: RunFacts): string[] {
  const ofOffline = ['effective_min_query_count', 'effective_samples_per_query'];
  return [
    'effective_performance_sample_count',
    'effective_min_duration_ms',
    ...(run.measured === 'Offline' ? ofOffline : []),
    ...(isServer(run) && run.model?.serverLatencyNs !== undefined ? [BOUND] : []),
    ...tokenBounds(run).map(([key]) => key),
  ];
}

/** Record with the sample count of an accuracy run. */
export function sampleCountKey(log: RunLog): string {
  const override = 'effective_accuracy_sample_count';
  return log.record(override) === undefined ? 'qsl_reported_total_count' : override;
}

/**
 * Seeds in a log that are neither those of the round nor of its TEST05.
 * @param isRounded True: only seeds that some tool has read and written as floating-point
 *   numbers; false: only others.
 */
function wrongSeeds({ log, round, otherRound, test }: RunFacts, isRounded: boolean): Answer {
  if (otherRound !== undefined) return false;
  const own = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  const seeds = own ?? seedsOfRound(round);
  return SEED_NAMES.map((name) => {
    const key = `effective_${name}`;
    const expected = seeds[name];
    return log.wrong(key, (value) => {
      if (!isNumber(value) || (Number(value) === Number(expected)) !== isRounded) return false;
      const isWhole = typeof value === 'bigint' || Number.isInteger(value);
      const isRight = isWhole && BigInt(value) === expected;
      return !isRight && `${key} is ${value}, not ${expected}.`;
    });
  });
}

function scenarioDiffers({ log, measured }: RunFacts): Answer {
  const expected = loadgenScenario(measured);
  return log.wrong(
    'effective_scenario',
    (seen) => String(seen) !== expected && `It is ${String(seen)}, not ${expected}.`,
  );
}

function modeDiffers(log: RunLog, mode: string): Answer {
  const right = [undefined, mode, 'SubmissionRun'] as unknown[];
  return log.wrong(
    'effective_test_mode',
    (seen) => !right.includes(seen) && `It is ${String(seen)}.`,
  );
}

/** Settings of a compliance test that a log wrongly has, or lacks. */
export function testSettings(run: RunFacts): Answer {
  return [...issueSettings(run), ...samplingSettings(run)];
}

/** Settings of the sample order, as in TEST04. */
function issueSettings(run: RunFacts) {
  const isSame = run.test === 'TEST04';
  const isOther = (value: unknown): boolean => typeof value === 'boolean' && value !== isSame;
  return [
    ofAnother(run, 'performance_issue_same', isOther),
    ofAnother(run, 'performance_issue_unique', (value) => value === true),
  ];
}

/** Settings of the logged share of responses, as in TEST01. */
function samplingSettings(run: RunFacts) {
  const isSampled = run.test === 'TEST01';
  const isOther = (value: unknown): boolean => isNumber(value) && value > 0 !== isSampled;
  return [
    ofAnother(run, 'accuracy_log_sampling_target', isOther),
    isSampled &&
      run.log.wrong('effective_accuracy_log_rng_seed', (seed) => {
        const isRight = seed === undefined || String(seed) === String(SAMPLING_SEED);
        return !isRight && `accuracy_log_rng_seed is ${String(seed)}, not ${SAMPLING_SEED}.`;
      }),
  ];
}

function ofAnother({ log, test }: RunFacts, name: string, isOther: (value: unknown) => boolean) {
  const whose = test ?? 'a result';
  const text = (value: unknown): string => `${name} is ${String(value)}, which is not that of`;
  return log.wrong(`effective_${name}`, (value) => isOther(value) && `${text(value)} ${whose}.`);
}

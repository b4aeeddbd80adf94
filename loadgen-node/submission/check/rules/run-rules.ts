import { NETWORK_SUT } from '../../../../shared/domain/system-under-test.ts';
import { isTruthy, MARKED_BYTE_ORDER } from '../../../loadgen/logs/read/detail-log.ts';
import { metricOf, resultMetric } from '../../rules/result-metric.ts';
import { isStrict } from '../read/sites.ts';
import {
  atLeast,
  BOUND,
  CUT_RECORD,
  damagesOf,
  isNoneOfRound,
  isOverNetwork,
  isRounded,
  isServer,
  latencyImpossible,
  missingLabels,
  missingRecords,
  modeDiffers,
  neededNumbers,
  neededTexts,
  noNumber,
  P99,
  sampleCountKey,
  scenarioDiffers,
  seedKeys,
  summaryDiffers,
  TOKENS_ON,
  testSettings,
  tokenBounds,
  wrongSeeds,
} from '../result/run-records.ts';
import {
  ALL_CHECKERS,
  COMPLIANCE_SCRIPTS,
  INFERENCE_RULES,
  NEWER_CHECKERS,
  OLDER_CHECKERS,
  type RuleTable,
} from './rule.ts';

/** Duration that every run is set to at least, in ms. */
const MIN_DURATION_MS = 600_000;

/** Share of the queries that a Server bound holds for. */
const SERVER_PERCENTILE = 0.99;

/** A year: what lies further apart was not made for one result. */
const DAYS_APART_MAX = 366;

/** Rules about the logs of a run. */
export const RUN_RULES = {
  'log-empty': {
    rule: 'A detail log has records.',
    advice: 'Copy the log again; make the run again if it is lost.',
    log: ({ log: { detail } }) =>
      detail.records.size === 0 && `It has ${detail.lineCount} line(s) and no record.`,
  },
  'log-first-line': {
    warningIn: ['v4.1'],
    rule: 'The first line of a detail log is a record.',
    source: NEWER_CHECKERS,
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
    rule: 'Every line with the mark :::MLLOG is a whole record.',
    source: `${OLDER_CHECKERS}; ${NEWER_CHECKERS} breaks off`,
    advice: 'Copy the log again; what a log says may not be mended by hand.',
    log: ({ log }) => damagesOf(log, (text) => text !== CUT_RECORD && text !== MARKED_BYTE_ORDER),
  },
  'log-cut': {
    rule: 'A log ends where LoadGen ended it.',
    advice: 'Copy the log again.',
    log: ({ log }) => damagesOf(log, (text) => text === CUT_RECORD),
  },
  'record-missing': {
    rule: 'The detail log has every record that the official tools read.',
    advice: 'Take the log of a run of LoadGen of the round.',
    performance: (run) => missingRecords(run.log, [...neededTexts(run), ...neededNumbers(run)]),
    // The tools of v4.1 do not ask for the count.
    accuracy: ({ log, round, model }) =>
      round !== 'v4.1' && model !== undefined && missingRecords(log, [sampleCountKey(log)]),
  },
  'record-not-number': {
    rule: 'Values that the official tools compare are JSON numbers, not texts.',
    source: `${ALL_CHECKERS} (a seed in quotes equals nothing)`,
    advice: 'Take the log as LoadGen wrote it.',
    performance: (run) => [
      ...seedKeys().map((key) => noNumber(run.log, key, 'no number')),
      ...neededNumbers(run).map((key) => noNumber(run.log, key, 'which is no number')),
    ],
    accuracy: ({ log, round, model }) => [
      ...seedKeys().map((key) => noNumber(log, key, 'no number')),
      round !== 'v4.1' &&
        model !== undefined &&
        noNumber(log, sampleCountKey(log), 'which is no number'),
    ],
  },
  'error-in-log': {
    rule: 'A log has no records of errors.',
    source: `${OLDER_CHECKERS}; in performance logs ${NEWER_CHECKERS} forgets it`,
    advice: 'Find the reason and make the run again.',
    log: ({ log }) =>
      log.detail.errors.map(({ key, value, line }) => ({
        line,
        text: `${key}: ${String(value)}.`,
      })),
  },
  'result-invalid': {
    rule: 'result_validity is VALID.',
    source: `${OLDER_CHECKERS}; ${NEWER_CHECKERS} forgets it`,
    advice: 'Make a run that is VALID: a lower target QPS, or a longer run.',
    performance: ({ log }) =>
      log.wrong(
        'result_validity',
        (validity) => validity !== 'VALID' && `result_validity is ${String(validity)}.`,
      ),
  },
  'constraint-not-met': {
    rule: 'LoadGen found the run long enough, with enough queries, within its bounds.',
    source: 'LoadGen, result_*_met; no checker reads them',
    advice: 'Make the run again.',
    performance: ({ log }) =>
      ['perf_constraints', 'min_duration', 'min_queries'].map((name) => {
        const key = `result_${name}_met`;
        const isOdd = log.value('result_validity') === 'VALID' && log.value(key) === false;
        return isOdd && log.at(key, `${key} is false, though the result is VALID.`);
      }),
  },
  'record-twice': {
    severity: 'warning',
    rule: 'A log has one value of each setting and result.',
    source: `one run, one log; ${ALL_CHECKERS} read the first value`,
    advice: 'Take the log of one run, as LoadGen wrote it.',
    log: ({ log }) =>
      log.detail.repeats.map(({ key, value, line }) => {
        const first = log.record(key);
        const other = `in line ${first?.line} ${String(first?.value)}`;
        return { line, text: `${key} is ${String(value)}, and ${other}.` };
      }),
  },
  'seed-wrong': {
    rule: 'The three seeds are those of the round; in TEST05 (v4.1) its own.',
    advice: "Run with the round's mlperf.conf (--round), or check the tree as its own round.",
    performance: ({ log, round, test }) => wrongSeeds(log, round, test).filter(isNoneOfRound),
  },
  'seed-rounded': {
    rule: 'Seeds keep all of their digits: they have 64 bits, more than a floating-point number.',
    advice: 'Take the log as LoadGen wrote it; some tool has read and written it as numbers.',
    performance: ({ log, round, test }) => wrongSeeds(log, round, test).filter(isRounded),
    accuracy: ({ log, round }) => wrongSeeds(log, round).filter(isRounded),
  },
  'accuracy-seed-wrong': {
    rule: 'An accuracy run has the seeds of the round, too.',
    source: `${INFERENCE_RULES}, LoadGen; no checker looks`,
    advice: "Run with the round's mlperf.conf (--round).",
    accuracy: ({ log, round }) => wrongSeeds(log, round).filter(isNoneOfRound),
  },
  'scenario-differs': {
    rule: 'effective_scenario is the scenario of the folder (Interactive: Server).',
    source: `${ALL_CHECKERS}: a datacenter result is not inferred from another scenario`,
    advice:
      'Put the logs into the folder of their scenario. An edge system may infer MultiStream from SingleStream, and Offline from either: its folders are copies of the measured result, which is there as well.',
    performance: scenarioDiffers,
    accuracy: scenarioDiffers,
  },
  'result-inferred': {
    severity: 'notice',
    rule: 'An edge system may infer a result from that of another scenario, with copies of its folders.',
    source: `${INFERENCE_RULES}, Benchmarks; ${ALL_CHECKERS} compute it from the log`,
    advice: 'Nothing, if it is meant so.',
  },
  'mode-differs': {
    rule: 'Logs in performance/ are of a performance run, logs in accuracy/ of an accuracy run.',
    source: `${INFERENCE_RULES}, LoadGen; no checker looks`,
    advice: 'Put the logs into the folder of their mode.',
    performance: ({ log }) => modeDiffers(log, 'PerformanceOnly'),
    accuracy: ({ log }) => modeDiffers(log, 'AccuracyOnly'),
  },
  'runs-far-apart': {
    severity: 'warning',
    rule: 'The runs of a result are of one time.',
    source: 'no checker looks; reviewers do',
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
    rule: 'The run of a result has no settings of a compliance test.',
    source: `${INFERENCE_RULES}, LoadGen; no checker looks`,
    advice: 'Take the logs of the run without audit.config.',
    performance: (run) => run.test === undefined && testSettings(run),
  },
  'sut-name': {
    rule: 'The name of the SUT contains "Network SUT".',
    source: `${ALL_CHECKERS}; inference_rules v4.1, QDL constraints`,
    advice: 'Give the SUT such a name and make the run again.',
    performance: (run) =>
      run.division !== 'closed' &&
      isOverNetwork(run) &&
      run.log.wrong('sut_name', (name) => {
        const isRight = String(name).includes(NETWORK_SUT);
        return !isRight && `The name is "${String(name)}", without "${NETWORK_SUT}".`;
      }),
  },
  'closed-over-network': {
    severity: 'warning',
    rule: 'A closed result is of a system without a network between LoadGen and SUT: the name of its SUT has no "Network SUT".',
    source: `${ALL_CHECKERS} ask it of the description (is_network), and nobody of the log`,
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
  'performance-samples-few': {
    rule: "The run drew from at least as many samples as the model's table says.",
    source: `${ALL_CHECKERS}; inference_rules, QSL size`,
    advice: 'Do not lower performance_sample_count_override.',
    performance: ({ log, model }) =>
      atLeast(log, 'effective_performance_sample_count', model?.performanceSamples ?? 0),
  },
  'duration-short': {
    rule: 'The shortest duration is set to 600 s or more, in the runs of compliance tests, too.',
    advice: 'Set min_duration to 600000 and make the run again.',
    performance: ({ log }) => atLeast(log, 'effective_min_duration_ms', MIN_DURATION_MS),
  },
  'queries-few': {
    rule: 'min_query_count is at least 1 (Offline; elsewhere early stopping decides).',
    advice: 'Set it, and make the run again.',
    performance: ({ log, measured }) =>
      measured === 'Offline' && atLeast(log, 'effective_min_query_count', 1),
  },
  'offline-samples-few': {
    rule: "An Offline query has at least as many samples as the model's table says.",
    source: `${OLDER_CHECKERS}; in network and open ${NEWER_CHECKERS} forgets it`,
    advice: 'Raise target_qps or min_query_count, and make the run again.',
    performance: ({ log, measured, model }) =>
      measured === 'Offline' &&
      atLeast(log, 'effective_samples_per_query', model?.offlineSamples ?? 1),
  },
  'latency-bound-loose': {
    rule: "The latency bound of a Server run is not above that of the model's table.",
    source: `${ALL_CHECKERS}, in the open division as well, though its rules have no such bound`,
    advice: 'Do not raise target_latency.',
    performance: (run) =>
      isServer(run) &&
      run.log.wrongNumber(BOUND, (bound) => {
        const most = run.model?.serverLatencyNs ?? Infinity;
        return bound > most && `The bound is ${bound} ns; ${most} ns at most.`;
      }),
  },
  'percentile-low': {
    rule: 'The latency bound of a Server run holds for 99 % of the queries.',
    source: `${INFERENCE_RULES}, scenarios; no checker looks`,
    advice: 'Do not lower target_latency_percentile.',
    performance: (run) =>
      isServer(run) &&
      isStrict(run) &&
      run.log.number(BOUND) !== undefined &&
      run.log.wrongNumber(
        'effective_target_latency_percentile',
        (share) =>
          share < SERVER_PERCENTILE &&
          `The bound holds for a share of ${share}; ${SERVER_PERCENTILE} is asked for.`,
      ),
  },
  'early-stopping-not-met': {
    rule: 'early_stopping_met is true in Server, SingleStream and MultiStream.',
    source: NEWER_CHECKERS,
    advice: 'A longer run, or a lower target QPS.',
    // The tool of v4.1 prints an error and goes on: what is missing there is no fault, "false" beside VALID is.
    performance: ({ log, round, model, measured }) => {
      const key = 'early_stopping_met';
      const record = log.record(key);
      const isFine = record === undefined ? round === 'v4.1' : isTruthy(record.value);
      if (model === undefined || measured === 'Offline' || isFine) return false;
      return log.at(key, `${key} is ${record === undefined ? 'missing' : String(record.value)}.`);
    },
  },
  'p99-above-bound': {
    severity: 'warning',
    rule: 'The measured 99th percentile is below the bound.',
    source: 'no checker compares it: early stopping decides',
    advice: 'Look at it before others do.',
    // Language models have no bound on a query as a whole: theirs is 0.
    performance: (run) => {
      const bound = run.log.number(BOUND) ?? 0;
      return (
        isServer(run) &&
        bound > 0 &&
        run.log.wrongNumber(
          P99,
          (p99) => p99 > bound && `It is ${p99} ns, and the bound ${bound} ns.`,
        )
      );
    },
  },
  'latency-impossible': {
    rule: 'Latencies are above zero.',
    source: 'no checker looks',
    advice: 'Take the log as LoadGen wrote it.',
    performance: latencyImpossible,
    accuracy: latencyImpossible,
  },
  'metric-missing': {
    rule: "The log has the model's metric, above zero.",
    advice: 'Take the log of a run that came to its end; token metrics need use_token_latencies.',
    // A metric in tokens stands beside the one in samples, and the tools read both.
    performance: ({ log, model, scenario, measured }) =>
      [...new Set([metricOf(model, scenario, measured), resultMetric(undefined, measured)])].map(
        (metric) => {
          const value = log.number(metric);
          return !(value && value > 0) && log.at(metric, `${metric} is ${value ?? 'missing'}.`);
        },
      ),
  },
  'token-latencies-off': {
    rule: 'Language models are measured with token latencies (requested_use_token_latencies).',
    advice: 'Set use_token_latencies = 1, and make the run again.',
    performance: ({ log, model }) =>
      model?.tokenLatencies !== undefined &&
      log.value(TOKENS_ON) !== true &&
      log.at(TOKENS_ON, `${TOKENS_ON} is not true.`),
  },
  'token-latency-above-bound': {
    rule: "p99 of the time to the first token and per output token are below the model's bounds.",
    source: `${ALL_CHECKERS}, in the open division as well`,
    advice: 'A lower target QPS.',
    // Strictly below, as the official tools compare.
    performance: (run) =>
      tokenBounds(run).map(([key, boundNs]) =>
        run.log.wrongNumber(
          key,
          (seen) => seen >= boundNs && `${key} is ${seen} ns; below ${boundNs} ns.`,
        ),
      ),
  },
  'equal-issue-off': {
    rule: 'Models with samples of unlike length issue them in whole permutations (sample_concatenate_permutation).',
    source: `${OLDER_CHECKERS}; that of v4.1 looks into mlperf.conf and user.conf beside the result`,
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
    // The tool of v4.1 reads the configuration beside the result, the later ones the log; that of v5.1 in open as well.
    performance: (run) => {
      const key = 'effective_sample_concatenate_permutation';
      const isAsked = run.model?.isEqualIssue === true && (isStrict(run) || run.round === 'v5.1');
      const record = run.log.record(key);
      if (!isAsked || record?.value === true) return false;
      if (record !== undefined) return run.log.at(key, `${key} is ${String(record.value)}.`);
      return run.round !== 'v4.1' && run.log.at(key, `It has no record of ${key}.`);
    },
  },
  'equal-issue-unknown': {
    severity: 'warning',
    rule: 'Models with samples of unlike length issue them in whole permutations, and log or mlperf.conf say so.',
    source: `${INFERENCE_RULES}, LoadGen; the tool of v4.1 misses the model in its list`,
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
  },
  'summary-unusable': {
    severity: 'warning',
    rule: 'The summary log has the lines "Scenario", the rate and "Result is", which the compliance scripts compare.',
    source: COMPLIANCE_SCRIPTS,
    advice: 'Take the summary as LoadGen wrote it.',
    summary: (facts) => {
      const missing = missingLabels(facts);
      return missing.length > 0 && `It has no line of ${missing.join(', ')}.`;
    },
  },
  'summary-differs': {
    rule: 'Summary and detail log are of one run.',
    source: 'no checker looks',
    advice: 'Take both files from the folder of the run.',
    summary: summaryDiffers,
  },
  'errors-in-summary': {
    severity: 'warning',
    rule: 'A summary log counts no errors.',
    source: `${COMPLIANCE_SCRIPTS} print a warning; no checker looks`,
    advice: 'Find the reason and make the run again.',
    summary: ({ summary: { errorCount } }) => errorCount > 0 && `It counts ${errorCount} error(s).`,
  },
} as const satisfies RuleTable;

import { counted } from '../../../../shared/base/text.ts';
import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import { metricOf, sampleMetric } from '../../rules/submission-model.ts';
import {
  minDurationMs,
  performanceSamplesInConf,
  roundsUpTo,
} from '../../rules/submission-rounds.ts';
import type { RunLog, SeenRecord } from '../read/run-log.ts';
import {
  type Answer,
  type Facts,
  isStrict,
  type ResultSite,
  type RunFacts,
} from '../read/sites.ts';
import { inferenceRules, main, type RuleTable, tag } from './rule.ts';
import { roundPercentile } from './v05-rules.ts';

/** Share of the queries that must keep a Server bound. */
const SERVER_PERCENTILE = 0.99;

/** Record of a Server run's latency bound. */
export const BOUND = 'effective_target_latency_ns';

const SAMPLES = 'effective_performance_sample_count';

const TOKENS_ON = 'requested_use_token_latencies';

const TTFT_P99 = 'result_first_token_99.00_percentile_latency_ns';

const TPOT_P99 = 'result_time_per_output_token_99.00_percentile_ns';

/** Summary labels of rates, by LoadGen's key in the detail log. */
const RATES: readonly [key: string, label: string][] = [
  ['result_completed_samples_per_sec', 'Completed samples per second'],
  ['result_samples_per_second', 'Samples per second'],
];

/** Tolerance of a rate in the summary, which has two decimals. */
const RATE_TOLERANCE = 0.0051;

/** Rules about the settings, results and summary of a performance run. */
export const PERFORMANCE_RULES = {
  'performance-samples-few': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.performance_sample_count_check')],
    rule: "The performance set has at least the model's number of samples.",
    advice: 'Do not lower performance_sample_count_override, and leave --data-count out.',
    performance: ({ log, model }) => atLeast(log, SAMPLES, model?.performanceSamples ?? 0),
    // v0.5's check reads the summary.
    summary: ({ summary, model, round }) => {
      const seen = summary.values.get('performance_sample_count');
      const least = model?.performanceSamples ?? 0;
      const isEnough = /^\d/.test(seen ?? '') && Number.parseInt(seen ?? '', 10) >= least;
      const text = `performance_sample_count is ${seen ?? 'missing'}; at least ${least} are needed.`;
      return round === 'v0.5' && !isEnough && text;
    },
  },
  'performance-samples-below-conf': {
    severity: 'warning',
    by: [inferenceRules('Benchmarks')],
    rule: "The performance set has the number of samples that the round's mlperf.conf has.",
    advice: 'Do not lower performance_sample_count_override, and leave --data-count out.',
    // For some models the official check requires fewer.
    performance: ({ log, round, model }) => {
      const least = model === undefined ? 0 : performanceSamplesInConf(round, model.benchmark);
      const asked = model?.performanceSamples ?? 0;
      return log.wrongNumber(
        SAMPLES,
        (seen) => seen >= asked && seen < least && `${SAMPLES} is ${seen}, and ${least} there.`,
      );
    },
  },
  'duration-short': {
    by: [
      inferenceRules('Scenarios'),
      tag('check_performance_dir'),
      main('PerformanceCheck.min_duration_check'),
    ],
    rule: 'min_duration is at least 600 s, also in compliance tests.',
    advice: 'Set min_duration to 600000 and make the run again.',
    performance: ({ log, round }) =>
      atLeast(log, 'effective_min_duration_ms', minDurationMs(round)),
  },
  'queries-few': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.min_query_count_check')],
    rule: 'min_query_count of an Offline run is at least 1.',
    advice: 'Set it, and make the run again.',
    performance: ({ log, measured, model }) => {
      const ofRound = measured === 'Interactive' ? undefined : model?.v05?.minQueries[measured];
      const least = ofRound ?? (measured === 'Offline' ? 1 : 0);
      return least > 0 && atLeast(log, 'effective_min_query_count', least);
    },
  },
  'offline-samples-few': {
    by: [
      inferenceRules('Scenarios'),
      tag('check_performance_dir'),
      main('PerformanceCheck.min_query_count_check'),
    ],
    rule: "An Offline query has at least the model's number of samples.",
    advice: 'Raise target_qps or min_query_count, and make the run again.',
    performance: ({ log, measured, model }) =>
      measured === 'Offline' &&
      atLeast(log, 'effective_samples_per_query', model?.offlineSamples ?? 1),
  },
  'latency-bound-loose': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.latency_check')],
    rule: "The latency bound of a Server run is at most the model's.",
    advice: 'Do not raise target_latency.',
    performance: (run) =>
      isServer(run) &&
      run.log.wrongNumber(BOUND, (bound) => {
        const most = run.model?.serverLatencyNs ?? Infinity;
        return bound > most && `The bound is ${bound} ns; ${most} ns at most.`;
      }),
  },
  'percentile-low': {
    by: [inferenceRules('Scenarios')],
    rule: 'The latency bound of a Server run is for the 99th percentile or above.',
    advice: 'Do not lower target_latency_percentile.',
    performance: (run) => {
      const ofRound = roundPercentile(run);
      const isAsked =
        ofRound !== undefined || (isServer(run) && run.log.number(BOUND) !== undefined);
      const least = ofRound === undefined ? SERVER_PERCENTILE : Number(ofRound) / 100;
      return (
        isAsked &&
        isStrict(run) &&
        run.log.wrongNumber(
          'effective_target_latency_percentile',
          (share) =>
            share < least && `The bound holds for a share of ${share}; ${least} is required.`,
        )
      );
    },
  },
  'early-stopping-not-met': {
    by: [inferenceRules('Early Stopping Criterion'), main('PerformanceCheck.latency_check')],
    rule: 'early_stopping_met is true in Server, SingleStream and MultiStream.',
    advice: 'A longer run, or a lower target QPS.',
    // The tags' checks print an error and continue: a missing value is no fault, but "false" beside
    // VALID is.
    performance: ({ log, round, model, measured }) => {
      const key = 'early_stopping_met';
      const record = log.record(key);
      const isFine =
        record === undefined ? roundsUpTo('v5.1').includes(round) : isTruthy(record.value);
      if (model === undefined || measured === 'Offline' || isFine) return false;
      return log.at(key, `${key} is ${record === undefined ? 'missing' : String(record.value)}.`);
    },
  },
  'p99-above-bound': {
    by: [],
    rule: 'The measured 99th percentile is below the bound.',
    because: 'early stopping decides',
    advice: 'Early stopping decides; be ready to explain it.',
    // Language models have no bound on a whole query: it is 0.
    performance: (run) => {
      const bound = run.log.number(BOUND) ?? 0;
      return (
        isServer(run) &&
        bound > 0 &&
        run.log.wrongNumber(
          `result_${roundPercentile(run) ?? '99.00'}_percentile_latency_ns`,
          (p99) => p99 > bound && `It is ${p99} ns, and the bound ${bound} ns.`,
        )
      );
    },
  },
  'latency-impossible': {
    by: [],
    rule: 'Latencies are above zero.',
    because: 'no clock measures it: the one of the run was changed, or the log',
    advice: 'Take the log as LoadGen wrote it.',
    performance: latencyImpossible,
    accuracy: latencyImpossible,
  },
  'metric-missing': {
    by: [tag('check_performance_dir'), main('PerformanceCheck.get_performance_metric_check')],
    rule: "The log has the model's metric, above zero.",
    advice: 'Take the log of a run that came to its end; token metrics need use_token_latencies.',
    // A metric in tokens accompanies the one in samples, and the tools read both.
    performance: ({ log, model, scenario, measured }) =>
      [...new Set([metricOf(model, scenario, measured).key, sampleMetric(model, measured)])].map(
        (metric) => {
          const value = log.number(metric);
          return !(value && value > 0) && log.at(metric, `${metric} is ${value ?? 'missing'}.`);
        },
      ),
  },
  'token-latencies-off': {
    by: [
      tag('extra_check_llama2', { since: 4.0, until: 4.0 }),
      tag('extra_check_llm', { since: 4.1 }),
      main('PerformanceCheck.llm_check'),
    ],
    rule: 'Language models are measured with token latencies (requested_use_token_latencies).',
    advice: 'Set use_token_latencies = 1, and make the run again.',
    performance: ({ log, model }) =>
      model?.tokenLatencies !== undefined &&
      log.value(TOKENS_ON) !== true &&
      log.at(TOKENS_ON, `${TOKENS_ON} is not true.`),
  },
  'token-latency-above-bound': {
    by: [
      tag('extra_check_llama2', { since: 4.0, until: 4.0 }),
      tag('extra_check_llm', { since: 4.1 }),
      main('PerformanceCheck.llm_check'),
    ],
    rule: "p99 of TTFT and TPOT are below the model's bounds.",
    advice: 'A lower target QPS.',
    // Strictly below, as in the official tools.
    performance: (run) =>
      tokenBounds(run).map(([key, boundNs]) =>
        run.log.wrongNumber(
          key,
          (seen) => seen >= boundNs && `${key} is ${seen} ns; below ${boundNs} ns.`,
        ),
      ),
  },
  'equal-issue-off': {
    by: [tag('Config.requires_equal_issue', { since: 4.1 })],
    rule: 'Models with samples of different lengths use sample_concatenate_permutation.',
    because: 'mlperf.conf of the round sets it',
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
    // v4.1's tool reads the configuration beside the result, later ones read the log; v5.1's also
    // in open.
    performance: (run) => {
      const key = 'effective_sample_concatenate_permutation';
      const isAsked = run.model?.isEqualIssue === true && (isStrict(run) || run.round === 'v5.1');
      const record = run.log.record(key);
      if (!isAsked || record?.value === true) return false;
      if (record !== undefined) return run.log.at(key, `${key} is ${String(record.value)}.`);
      return (
        !roundsUpTo('v4.1').includes(run.round) && run.log.at(key, `It has no record of ${key}.`)
      );
    },
  },
  'equal-issue-unknown': {
    by: [],
    rule: 'Log or mlperf.conf show sample_concatenate_permutation, where the model needs it.',
    because: 'mlperf.conf of the round sets it, and the check of v4.1 misses the model in its list',
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
  },
  'summary-unusable': {
    by: [],
    rule: 'The summary has "Scenario", the rate and "Result is", which compliance scripts compare.',
    because: 'run_verification.py of the compliance tests compares them',
    advice: 'Take the summary as LoadGen wrote it.',
    summary: (facts) => {
      const missing = missingLabels(facts);
      return missing.length > 0 && `It has no line of ${missing.join(', ')}.`;
    },
  },
  'summary-differs': {
    by: [inferenceRules('LoadGen Operation')],
    rule: 'Summary and detail log are of one run.',
    advice: 'Take both files from the folder of the run.',
    summary: summaryDiffers,
  },
  'errors-in-summary': {
    by: [],
    rule: 'The summary log reports no errors.',
    because: 'run_verification.py of the compliance tests prints a warning',
    advice: 'Find the reason and make the run again.',
    summary: ({ summary: { errorCount } }) =>
      errorCount > 0 && `It counts ${counted(errorCount, 'error')}.`,
  },
} as const satisfies RuleTable;

/** True for a run whose model has a latency bound in the scenario. */
export function isServer({ scenario, model }: ResultSite): boolean {
  return model !== undefined && (scenario === 'Server' || scenario === 'Interactive');
}

function atLeast(log: RunLog, key: string, least: number): SeenRecord | false {
  const check = (seen: number) => `${key} is ${seen}; at least ${least} are needed.`;
  return log.wrongNumber(key, (seen) => seen < least && check(seen));
}

/** Bounds on the token latencies of a run, by record; empty if not measured. */
export function tokenBounds({ log, model, scenario }: RunFacts): [key: string, boundNs: number][] {
  const bounds = model?.tokenLatencies?.[scenario];
  if (bounds === undefined || log.value(TOKENS_ON) !== true) return [];
  return [
    [TTFT_P99, bounds.ttftNs],
    [TPOT_P99, bounds.tpotNs],
  ];
}

function latencyImpossible({ log }: RunFacts): Answer {
  const keys = [...log.keys()].filter((key) => /^result_.*latency_ns$/.test(key));
  return keys.map((key) => log.wrongNumber(key, (value) => value < 0 && `${key} is ${value}.`));
}

function rateOf({ log }: RunFacts) {
  return RATES.find(([key]) => log.record(key) !== undefined);
}

/** Labels that the compliance scripts compare, but the summary lacks. */
function missingLabels(facts: Facts['summary']): string[] {
  const [, label] = rateOf(facts) ?? [];
  const labels = ['Scenario', 'Result is', ...(label === undefined ? [] : [label])];
  return labels.filter((one) => !facts.summary.values.has(one));
}

/** Compares the summary with the detail log beside it. */
function summaryDiffers(facts: Facts['summary']): Answer {
  const { log, summary } = facts;
  if (missingLabels(facts).length > 0) return undefined;
  const differs = (label: string, seen: unknown, logged: unknown) =>
    `"${label}" is ${seen}, in the detail log ${String(logged)}.`;
  const pairs = [
    ['Scenario', 'effective_scenario'],
    ['Result is', 'result_validity'],
    ['SUT name', 'sut_name'],
  ] as const;
  const texts = pairs.map(([label, key]) => {
    const record = log.record(key);
    const seen = summary.values.get(label);
    const isSame = record === undefined || seen === undefined || seen === String(record.value);
    return !isSame && differs(label, seen, record.value);
  });
  const [key, label] = rateOf(facts) ?? [];
  if (key === undefined || label === undefined) return texts;
  const seen = Number(summary.values.get(label));
  const logged = log.number(key) ?? 0;
  const isNear = Math.abs(seen - logged) <= RATE_TOLERANCE * Math.max(1, logged);
  return [...texts, !isNear && differs(label, seen, logged)];
}

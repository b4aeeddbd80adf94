import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import { metricOf, sampleMetric } from '../../rules/submission-model.ts';
import { minDurationMs } from '../../rules/submission-rounds.ts';
import type { RunLog, SeenRecord } from '../read/run-log.ts';
import {
  type Answer,
  type Facts,
  isStrict,
  type ResultSite,
  type RunFacts,
} from '../read/sites.ts';
import {
  ALL_CHECKERS,
  COMPLIANCE_SCRIPTS,
  INFERENCE_RULES,
  NEWER_CHECKERS,
  OLDER_CHECKERS,
  type RuleTable,
} from './rule.ts';
import { roundPercentile } from './v05-rules.ts';

/** Share of the queries that a Server bound holds for. */
const SERVER_PERCENTILE = 0.99;

/** The bound on the latency of a Server run. */
export const BOUND = 'effective_target_latency_ns';

const TOKENS_ON = 'requested_use_token_latencies';

const TTFT_P99 = 'result_first_token_99.00_percentile_latency_ns';

const TPOT_P99 = 'result_time_per_output_token_99.00_percentile_ns';

/** Labels of the rate in the summary, by LoadGen's key in the detail log. */
const RATES: readonly [key: string, label: string][] = [
  ['result_completed_samples_per_sec', 'Completed samples per second'],
  ['result_samples_per_second', 'Samples per second'],
];

/** Largest difference of a rate in the summary, which has two decimals. */
const RATE_TOLERANCE = 0.0051;

/** Rules about the settings, results and summary of a performance run. */
export const PERFORMANCE_RULES = {
  'performance-samples-few': {
    rule: "The performance set has at least the model's number of samples.",
    source: `${ALL_CHECKERS}; inference_rules, QSL size`,
    advice: 'Do not lower performance_sample_count_override.',
    performance: ({ log, model }) =>
      atLeast(log, 'effective_performance_sample_count', model?.performanceSamples ?? 0),
  },
  'duration-short': {
    rule: 'min_duration is at least 600 s, also in compliance tests.',
    advice: 'Set min_duration to 600000 and make the run again.',
    performance: ({ log, round }) =>
      atLeast(log, 'effective_min_duration_ms', minDurationMs(round)),
  },
  'queries-few': {
    rule: 'min_query_count of an Offline run is at least 1.',
    advice: 'Set it, and make the run again.',
    performance: ({ log, measured, model }) => {
      const ofRound = measured === 'Interactive' ? undefined : model?.v05?.minQueries[measured];
      const least = ofRound ?? (measured === 'Offline' ? 1 : 0);
      return least > 0 && atLeast(log, 'effective_min_query_count', least);
    },
  },
  'offline-samples-few': {
    rule: "An Offline query has at least the model's number of samples.",
    source: `${OLDER_CHECKERS}; in network and open ${NEWER_CHECKERS} forgets it`,
    advice: 'Raise target_qps or min_query_count, and make the run again.',
    performance: ({ log, measured, model }) =>
      measured === 'Offline' &&
      atLeast(log, 'effective_samples_per_query', model?.offlineSamples ?? 1),
  },
  'latency-bound-loose': {
    rule: "The latency bound of a Server run is at most the model's.",
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
    rule: 'The latency bound of a Server run is for the 99th percentile or above.',
    source: `${INFERENCE_RULES}, scenarios; no checker looks`,
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
    rule: 'early_stopping_met is true in Server, SingleStream and MultiStream.',
    source: NEWER_CHECKERS,
    advice: 'A longer run, or a lower target QPS.',
    // The tool of v4.1 prints an error and goes on: what is missing there is no fault, "false"
    // beside VALID is.
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
    advice: 'Early stopping decides; be ready to explain it.',
    // Language models have no bound on a query as a whole: theirs is 0.
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
      [...new Set([metricOf(model, scenario, measured), sampleMetric(model, measured)])].map(
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
    rule: "p99 of TTFT and TPOT are below the model's bounds.",
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
    rule: 'Models with samples of different lengths use sample_concatenate_permutation.',
    source: `${OLDER_CHECKERS}; that of v4.1 looks into mlperf.conf and user.conf beside the result`,
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
    // The tool of v4.1 reads the configuration beside the result, the later ones the log; that of
    // v5.1 in open as well.
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
    rule: 'Log or mlperf.conf show sample_concatenate_permutation, where the model needs it.',
    source: `${INFERENCE_RULES}, LoadGen; the tool of v4.1 misses the model in its list`,
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
  },
  'summary-unusable': {
    severity: 'warning',
    rule: 'The summary has "Scenario", the rate and "Result is", which compliance scripts compare.',
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
    rule: 'The summary log reports no errors.',
    source: `${COMPLIANCE_SCRIPTS} print a warning; no checker looks`,
    advice: 'Find the reason and make the run again.',
    summary: ({ summary: { errorCount } }) => errorCount > 0 && `It counts ${errorCount} error(s).`,
  },
} as const satisfies RuleTable;

/** True for a run with a model whose scenario has a bound on latencies. */
export function isServer({ scenario, model }: ResultSite): boolean {
  return model !== undefined && (scenario === 'Server' || scenario === 'Interactive');
}

function atLeast(log: RunLog, key: string, least: number): SeenRecord | false {
  const check = (seen: number) => `${key} is ${seen}; at least ${least} are needed.`;
  return log.wrongNumber(key, (seen) => seen < least && check(seen));
}

/** Bounds on the token latencies of a run, by record; none where they were not measured. */
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

/** Labels that the compliance scripts compare, and the summary lacks. */
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

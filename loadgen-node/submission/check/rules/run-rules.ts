import {
  ALL_CHECKERS,
  COMPLIANCE_SCRIPTS,
  INFERENCE_RULES,
  NEWER_CHECKERS,
  OLDER_CHECKERS,
  type RuleTexts,
} from './rule-sources.ts';

/** Ids of {@link RUN_RULES}. */
export type RunRuleId =
  | 'log-empty'
  | 'log-first-line'
  | 'log-damaged'
  | 'log-cut'
  | 'record-missing'
  | 'record-not-number'
  | 'error-in-log'
  | 'result-invalid'
  | 'constraint-not-met'
  | 'record-twice'
  | 'seed-wrong'
  | 'seed-rounded'
  | 'accuracy-seed-wrong'
  | 'scenario-differs'
  | 'result-inferred'
  | 'mode-differs'
  | 'runs-far-apart'
  | 'audit-in-result'
  | 'sut-name'
  | 'closed-over-network'
  | 'performance-samples-few'
  | 'duration-short'
  | 'queries-few'
  | 'offline-samples-few'
  | 'latency-bound-loose'
  | 'percentile-low'
  | 'early-stopping-not-met'
  | 'p99-above-bound'
  | 'latency-impossible'
  | 'metric-missing'
  | 'token-latencies-off'
  | 'token-latency-above-bound'
  | 'equal-issue-off'
  | 'equal-issue-unknown'
  | 'summary-unusable'
  | 'summary-differs'
  | 'errors-in-summary';

/** Rules about the logs of a run. */
export const RUN_RULES: Readonly<Record<RunRuleId, RuleTexts>> = {
  'log-empty': {
    severity: 'error',
    rule: 'A detail log has records.',
    source: ALL_CHECKERS,
    advice: 'Copy the log again; make the run again if it is lost.',
  },
  'log-first-line': {
    severity: 'error',
    warningIn: ['v4.1'],
    rule: 'The first line of a detail log is a record.',
    source: NEWER_CHECKERS,
    advice: 'Remove the lines in front of the first :::MLLOG.',
  },
  'log-damaged': {
    severity: 'error',
    rule: 'Every line with the mark :::MLLOG is a whole record.',
    source: `${OLDER_CHECKERS}; ${NEWER_CHECKERS} breaks off`,
    advice: 'Copy the log again; what a log says may not be mended by hand.',
  },
  'log-cut': {
    severity: 'error',
    rule: 'A log ends where LoadGen ended it.',
    source: ALL_CHECKERS,
    advice: 'Copy the log again.',
  },
  'record-missing': {
    severity: 'error',
    rule: 'The detail log has every record that the official tools read.',
    source: ALL_CHECKERS,
    advice: 'Take the log of a run of LoadGen of the round.',
  },
  'record-not-number': {
    severity: 'error',
    rule: 'Values that the official tools compare are JSON numbers, not texts.',
    source: `${ALL_CHECKERS} (a seed in quotes equals nothing)`,
    advice: 'Take the log as LoadGen wrote it.',
  },
  'error-in-log': {
    severity: 'error',
    rule: 'A log has no records of errors.',
    source: `${OLDER_CHECKERS}; in performance logs ${NEWER_CHECKERS} forgets it`,
    advice: 'Find the reason and make the run again.',
  },
  'result-invalid': {
    severity: 'error',
    rule: 'result_validity is VALID.',
    source: `${OLDER_CHECKERS}; ${NEWER_CHECKERS} forgets it`,
    advice: 'Make a run that is VALID: a lower target QPS, or a longer run.',
  },
  'constraint-not-met': {
    severity: 'error',
    rule: 'LoadGen found the run long enough, with enough queries, within its bounds.',
    source: 'LoadGen, result_*_met; no checker reads them',
    advice: 'Make the run again.',
  },
  'record-twice': {
    severity: 'warning',
    rule: 'A log has one value of each setting and result.',
    source: `one run, one log; ${ALL_CHECKERS} read the first value`,
    advice: 'Take the log of one run, as LoadGen wrote it.',
  },
  'seed-wrong': {
    severity: 'error',
    rule: 'The three seeds are those of the round; in TEST05 (v4.1) its own.',
    source: ALL_CHECKERS,
    advice: "Run with the round's mlperf.conf (--round), or check the tree as its own round.",
  },
  'seed-rounded': {
    severity: 'error',
    rule: 'Seeds keep all of their digits: they have 64 bits, more than a floating-point number.',
    source: ALL_CHECKERS,
    advice: 'Take the log as LoadGen wrote it; some tool has read and written it as numbers.',
  },
  'accuracy-seed-wrong': {
    severity: 'error',
    rule: 'An accuracy run has the seeds of the round, too.',
    source: `${INFERENCE_RULES}, LoadGen; no checker looks`,
    advice: "Run with the round's mlperf.conf (--round).",
  },
  'scenario-differs': {
    severity: 'error',
    rule: 'effective_scenario is the scenario of the folder (Interactive: Server).',
    source: `${ALL_CHECKERS}: a datacenter result is not inferred from another scenario`,
    advice:
      'Put the logs into the folder of their scenario. An edge system may infer MultiStream from SingleStream, and Offline from either: its folders are copies of the measured result, which is there as well.',
  },
  'result-inferred': {
    severity: 'notice',
    rule: 'An edge system may infer a result from that of another scenario, with copies of its folders.',
    source: `${INFERENCE_RULES}, Benchmarks; ${ALL_CHECKERS} compute it from the log`,
    advice: 'Nothing, if it is meant so.',
  },
  'mode-differs': {
    severity: 'error',
    rule: 'Logs in performance/ are of a performance run, logs in accuracy/ of an accuracy run.',
    source: `${INFERENCE_RULES}, LoadGen; no checker looks`,
    advice: 'Put the logs into the folder of their mode.',
  },
  'runs-far-apart': {
    severity: 'warning',
    rule: 'The runs of a result are of one time.',
    source: 'no checker looks; reviewers do',
    advice: 'Take the logs of the runs of this result.',
  },
  'audit-in-result': {
    severity: 'error',
    rule: 'The run of a result has no settings of a compliance test.',
    source: `${INFERENCE_RULES}, LoadGen; no checker looks`,
    advice: 'Take the logs of the run without audit.config.',
  },
  'sut-name': {
    severity: 'error',
    rule: 'The name of the SUT contains "Network SUT".',
    source: `${ALL_CHECKERS}; inference_rules v4.1, QDL constraints`,
    advice: 'Give the SUT such a name and make the run again.',
  },
  'closed-over-network': {
    severity: 'warning',
    rule: 'A closed result is of a system without a network between LoadGen and SUT: the name of its SUT has no "Network SUT".',
    source: `${ALL_CHECKERS} ask it of the description (is_network), and nobody of the log`,
    advice: 'Submit the result to network, or measure the SUT in the process of LoadGen.',
  },
  'performance-samples-few': {
    severity: 'error',
    rule: "The run drew from at least as many samples as the model's table says.",
    source: `${ALL_CHECKERS}; inference_rules, QSL size`,
    advice: 'Do not lower performance_sample_count_override.',
  },
  'duration-short': {
    severity: 'error',
    rule: 'The shortest duration is set to 600 s or more, in the runs of compliance tests, too.',
    source: ALL_CHECKERS,
    advice: 'Set min_duration to 600000 and make the run again.',
  },
  'queries-few': {
    severity: 'error',
    rule: 'min_query_count is at least 1 (Offline; elsewhere early stopping decides).',
    source: ALL_CHECKERS,
    advice: 'Set it, and make the run again.',
  },
  'offline-samples-few': {
    severity: 'error',
    rule: "An Offline query has at least as many samples as the model's table says.",
    source: `${OLDER_CHECKERS}; in network and open ${NEWER_CHECKERS} forgets it`,
    advice: 'Raise target_qps or min_query_count, and make the run again.',
  },
  'latency-bound-loose': {
    severity: 'error',
    rule: "The latency bound of a Server run is not above that of the model's table.",
    source: `${ALL_CHECKERS}, in the open division as well, though its rules have no such bound`,
    advice: 'Do not raise target_latency.',
  },
  'percentile-low': {
    severity: 'error',
    rule: 'The latency bound of a Server run holds for 99 % of the queries.',
    source: `${INFERENCE_RULES}, scenarios; no checker looks`,
    advice: 'Do not lower target_latency_percentile.',
  },
  'early-stopping-not-met': {
    severity: 'error',
    rule: 'early_stopping_met is true in Server.',
    source: NEWER_CHECKERS,
    advice: 'A longer run, or a lower target QPS.',
  },
  'p99-above-bound': {
    severity: 'warning',
    rule: 'The measured 99th percentile is below the bound.',
    source: 'no checker compares it: early stopping decides',
    advice: 'Look at it before others do.',
  },
  'latency-impossible': {
    severity: 'error',
    rule: 'Latencies are above zero.',
    source: 'no checker looks',
    advice: 'Take the log as LoadGen wrote it.',
  },
  'metric-missing': {
    severity: 'error',
    rule: "The log has the model's metric, above zero.",
    source: ALL_CHECKERS,
    advice: 'Take the log of a run that came to its end; token metrics need use_token_latencies.',
  },
  'token-latencies-off': {
    severity: 'error',
    rule: 'Language models are measured with token latencies (requested_use_token_latencies).',
    source: ALL_CHECKERS,
    advice: 'Set use_token_latencies = 1, and make the run again.',
  },
  'token-latency-above-bound': {
    severity: 'error',
    rule: "p99 of the time to the first token and per output token are below the model's bounds.",
    source: `${ALL_CHECKERS}, in the open division as well`,
    advice: 'A lower target QPS.',
  },
  'equal-issue-off': {
    severity: 'error',
    rule: 'Models with samples of unlike length issue them in whole permutations (sample_concatenate_permutation).',
    source: `${OLDER_CHECKERS}; that of v4.1 looks into mlperf.conf and user.conf beside the result`,
    advice: "Run with the round's mlperf.conf, and add it to measurements.",
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
  },
  'summary-differs': {
    severity: 'error',
    rule: 'Summary and detail log are of one run.',
    source: 'no checker looks',
    advice: 'Take both files from the folder of the run.',
  },
  'errors-in-summary': {
    severity: 'warning',
    rule: 'A summary log counts no errors.',
    source: `${COMPLIANCE_SCRIPTS} print a warning; no checker looks`,
    advice: 'Find the reason and make the run again.',
  },
};

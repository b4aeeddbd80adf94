import { posix } from 'node:path';
import { resultMetric } from '../../rules/submission-model.ts';
import { documentLines } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import { type Answer, performanceRuns, type ResultFacts, type ResultSite } from '../read/sites.ts';
import {
  type Decider,
  draft,
  ours,
  paper,
  type RuleRow,
  type RuleTable,
  r05,
  type Severity,
} from './rule.ts';

const OWN = 'a result has one run, and a run one log';

/** Bounds are those of closed; open measured others. Source: paper of the round, section 6.7. */
const CLOSED = { divisions: ['closed'] } as const;

/** Performance runs of a Server result. Source: paper of the round, section 4.6. */
const SERVER_RUNS = 5;

/** Relative tolerance of a rate against its five significant digits. */
const FIGURES_TOLERANCE = 1e-4;

/** Rows of a result's README with a rate of Server. */
const RATE_ROW = /^\| (Scheduled|Completed) samples per second\b[^|]*\| ([\d.]+) samples\/s \|/;
const RATE_KEYS: Readonly<Record<string, string>> = {
  Scheduled: 'result_scheduled_samples_per_sec',
  Completed: 'result_completed_samples_per_sec',
};

/** Records that identify two logs as belonging to one run. */
const MARKS_OF_RUN = ['test_datetime', 'result_mean_latency_ns', 'result_max_latency_ns'];

/** Rules that no other round has. */
export const V05_RULES = {
  'division-unknown': {
    rule: 'The divisions are closed and open.',
    by: [paper('section 5.1.1')],
    advice:
      'A SUT behind a network is in a division of its own from later rounds on; submit to open.',
    path: ({ file, isFolder }) =>
      isFolder && file === 'network' && 'The round has no Network division.',
  },
  'server-runs': {
    rule: 'A Server result has five performance runs, run_1 to run_5.',
    by: [paper('section 4.6')],
    advice: 'Make the others: longhaul run --round v0.5 --scenario server makes all five.',
    read: (site) => {
      const there = performanceRuns(site).filter((folder) => site.listing.hasFolder(folder));
      const names = there.map((folder) => posix.basename(folder)).join(', ');
      const text = `It has ${there.length}: ${names || 'none'}.`;
      const file = posix.dirname(site.layout.performance(site.place));
      return site.scenario === 'Server' && there.length !== SERVER_RUNS && { file, text };
    },
  },
  'run-twice': {
    rule: 'The five runs of a Server result are five runs.',
    by: [paper('section 4.6')],
    advice: 'Make each run; a copy shows nothing.',
    read: ({ runs }) => {
      const seen = new Map<string, RunLog>();
      return [...runs].map(([name, log]) => {
        if (!isPerformance(name)) return false;
        const mark = MARKS_OF_RUN.map((key) => String(log.value(key))).join(' ');
        const first = seen.get(mark);
        seen.set(mark, first ?? log);
        return first !== undefined && { file: log.file, text: `It is the run of ${first.file}.` };
      });
    },
  },
  'result-not-minimum': {
    rule: 'The result of Server is the lowest of the five runs.',
    by: [paper('section 4.6')],
    advice: 'Build the tree again, or write the lowest figure.',
    read: resultNotMinimum,
  },
  'interval-wrong': {
    rule: "MultiStream sends a query in each of the model's arrival intervals.",
    by: [paper('section 4.5 and table 3', CLOSED)],
    advice: 'Run with --round v0.5, and leave target_latency as it is.',
    performance: ({ log, model, measured }) => {
      const needed = model?.v05?.intervalNs ?? 0;
      return (
        measured === 'MultiStream' &&
        log.wrongNumber('effective_target_qps', (rate) => {
          const intervalNs = Math.round(1e9 / rate);
          const isRight = needed === 0 || Math.abs(intervalNs / needed - 1) < 1e-6;
          return !isRight && `The interval is ${intervalNs / 1e6} ms, not ${needed / 1e6} ms.`;
        })
      );
    },
  },
  'intervals-skipped': {
    rule: 'At most 1 % of the queries of MultiStream (gnmt: 3 %) skip an interval.',
    by: [paper('section 4.5')],
    because: 'gnmt: 4.6',
    advice: 'Fewer streams: --samples-per-query; longhaul find-peak finds the most.',
    performance: ({ log, model, measured }) => {
      const most = Math.round((1 - (model?.v05?.percentiles.MultiStream ?? 0)) * 1e6) / 1e6;
      const [skipping, queries] = [log.number(SKIPPING), log.number('result_query_count')];
      if (measured !== 'MultiStream' || skipping === undefined || queries === undefined)
        return false;
      const text = `${skipping} of ${queries} queries did; ${most * 100} % may.`;
      return skipping > most * queries && log.at(SKIPPING, text);
    },
  },
  'validation-unchecked': {
    severity: 'note',
    rule: "The round's validation tests are not checked.",
    by: [paper('sections 4.7.4 and 5.2')],
    because: 'longhaul has no tests of the round',
    advice: "Run the round's own validation suite, if the result is to be reviewed.",
    tree: ({ listing }) => listing.hasFolder('closed') && 'It has results of the closed division.',
  },
} as const satisfies RuleTable;

const SKIPPING = 'longhaul_skipping_queries';

/** True for names of a result's performance runs in {@link ResultFacts}. */
function isPerformance(name: string): boolean {
  return name.startsWith('performance');
}

/**
 * A longhaul README states the result; in other trees this check's report is the first to state it.
 */
function resultNotMinimum(site: ResultFacts): Answer {
  const file = posix.join(site.layout.measurements(site.place), 'README.md');
  if (site.scenario !== 'Server' || !site.listing.hasFile(file)) return false;
  const logs = [...site.runs].filter(([name]) => isPerformance(name)).map(([, log]) => log);
  return documentLines(site, file).map((line, i) => {
    const [, kind = '', text = ''] = RATE_ROW.exec(line) ?? [];
    const rates = logs.flatMap((log) => log.number(RATE_KEYS[kind] ?? '') ?? []);
    if (rates.length === 0) return false;
    const lowest = Math.min(...rates);
    const isRight = Number(text) <= lowest * (1 + FIGURES_TOLERANCE);
    const seen = `${kind} samples per second are ${text}, and ${lowest} in the lowest run.`;
    return !isRight && { file, line: i + 1, text: seen };
  });
}

/** The run that is a Server result: the one with the lowest metric. */
export function lowestRun(site: ResultFacts): RunLog | undefined {
  const metric = resultMetric(site.model, site.scenario);
  const rateOf = (log: RunLog): number => log.number(metric) ?? 0;
  const logs = [...site.runs].filter(([name]) => isPerformance(name)).map(([, log]) => log);
  return logs.sort((a, b) => rateOf(a) - rateOf(b))[0];
}

/** Percentile of the scenario in LoadGen's keys: `99.00`; undefined outside v0.5. */
export function roundPercentile({ model, scenario }: ResultSite): string | undefined {
  const share = scenario === 'Interactive' ? undefined : model?.v05?.percentiles[scenario];
  return share === undefined ? undefined : (share * 100).toFixed(2);
}

/** Texts of rules in v0.5 that differ from later rounds. */
type Held = Partial<Pick<RuleRow, 'rule' | 'advice' | 'because'>> & {
  readonly by: readonly Decider[];
  readonly severity?: Severity;
};

/**
 * Rules of all rounds that also apply to v0.5, each with its source there; no other rules do.
 * {@link V05_RULES} are the round's own.
 */
export const HELD_IN_V05: Readonly<Record<string, Held>> = {
  'stand-in-model': { by: [paper('section 4.3'), draft('Model')] },
  'not-approved-loadgen': {
    by: [draft('Load Generator')],
  },
  'loadgen-not-known': { by: [paper('section 4.7.4')] },
  'loadgen-contradicted': { by: [ours('With the C++ LoadGen')] },
  'own-records-removed': { by: [ours('Runs that longhaul did not make')] },
  'dry-run-lengths': { by: [paper('section 4.6')] },
  'no-results': { by: [paper('section 5.1')] },
  'no-plain-file': { by: [], because: OWN },
  'missing-file': { by: [r05('check_results_dir'), paper('section 5.1')] },
  'missing-folder': { by: [r05('check_results_dir'), paper('section 5.1')] },
  'empty-file': { by: [], because: 'a file without a word tells a reviewer nothing' },
  'extra-file': { by: [r05('files_diff')] },
  'extra-run': {
    rule: 'Server has run_1 to run_5, every other scenario run_1 alone.',
    by: [],
    because: 'only these runs count',
    advice: 'Remove the others.',
  },
  'code-missing': {
    rule: 'The sources are in code/<model>/<implementation>/.',
    advice: 'Add the folder.',
    by: [r05('check_measurement_dir'), paper('section 5.1')],
  },
  'model-unknown': {
    rule: 'The model folder is resnet, mobilenet, ssd-small, ssd-large or gnmt, in open as well.',
    by: [r05('check_results_dir'), paper('table 1')],
    advice: 'Rename the folder after the model that yours stands for.',
  },
  'scenario-unknown': {
    rule: 'The scenario is SingleStream, MultiStream, Server or Offline.',
    by: [paper('section 4.5 and figure 5')],
    advice: 'Remove the scenario, or fix the name of the folder.',
  },
  'json-broken': { by: [r05('check_results_dir')] },
  'not-utf8': { by: [r05('check_accuracy_dir')] },
  'system-missing': { by: [r05('check_system_desc_id'), paper('section 5.1')] },
  'field-missing': {
    rule: 'The description has every key that the check of the round requires.',
    by: [r05('compare_json')],
  },
  'field-empty': { by: [], because: 'an empty value tells a reviewer nothing' },
  'field-unknown': {
    severity: 'error',
    rule: 'Description and measurements file have only keys of the round.',
    by: [r05('compare_json')],
  },
  'todo-left': {
    by: [],
    because: 'longhaul submission system describe marks with TODO what it could not read',
  },
  'division-differs': { by: [r05('check_system_desc_id')] },
  'submitter-differs': {
    rule: '"submitter" is the name of the submitter\'s folder.',
    by: [r05('check_system_desc_id')],
  },
  'status-unknown': {
    rule: '"status" is available, preview or rdo (rdi).',
    by: [paper('section 5.1.2')],
  },
  'measurements-file-missing': {
    rule: 'A result has <system>_<implementation>_<scenario>.json.',
    by: [r05('check_measurement_dir')],
  },
  'measurements-field-missing': {
    rule: 'The measurements file has its five keys.',
    by: [r05('compare_json')],
    advice: 'Add the key; an empty text is a value.',
  },
  'retraining-stated': {
    rule: 'Closed does not retrain the model.',
    by: [paper('section 4.8.1'), draft('Divisions')],
  },
  'conf-not-for-loadgen': { by: [], because: 'LoadGen refuses other lines' },
  'user-conf-differs': { by: [], because: OWN },
  'log-empty': { by: [paper('section 5.1')] },
  'log-damaged': {
    rule: 'Every record of a detail log is whole.',
    by: [paper('section 5.1')],
  },
  'log-cut': { by: [paper('section 5.1')] },
  'record-missing': {
    rule: 'Detail log and summary have every record that this check reads.',
    by: [r05('check_performance_dir'), paper('section 5.1')],
  },
  'record-not-number': { by: [], because: OWN },
  'error-in-log': { severity: 'warning', by: [r05('check_performance_dir')] },
  'result-invalid': {
    by: [r05('check_performance_dir'), paper('section 4.7')],
  },
  'constraint-not-met': { by: [paper('section 4.6')], because: 'LoadGen, result_*_met' },
  'record-twice': { by: [], because: OWN },
  'seed-wrong': {
    rule: "The three seeds are those of the round's submissions.",
    by: [draft('Non-determinism is restricted')],
    because: "logs of the round's submissions",
    advice: 'Run with --round v0.5.',
  },
  'seed-rounded': { by: [], because: OWN },
  'accuracy-seed-wrong': { by: [], because: 'an accuracy does not depend on the seeds' },
  'scenario-differs': {
    rule: 'effective_scenario is the scenario of the folder.',
    by: [paper('section 4.5')],
    advice: 'Put the logs into the folder of their scenario; the round infers no result.',
  },
  'mode-differs': { by: [paper('section 4.7.3')] },
  'audit-in-result': {
    rule: "A result's run does not have a validation test's settings.",
    by: [paper('section 4.7.4')],
  },
  'sampling-in-result': {
    rule: "A result's run does not log a part of its responses, as a validation test does.",
    by: [paper('section 4.7.4')],
  },
  'closed-over-network': {
    rule: 'No result is of a SUT behind a network: the round has no division for it.',
    // No document forbids it explicitly.
    severity: 'warning',
    by: [paper('section 5.1.1'), draft('Load Generator')],
    advice: 'Be ready to explain it, or measure the SUT in the process of LoadGen.',
  },
  'performance-samples-few': {
    by: [r05('check_performance_dir'), paper('section 4.7.3')],
  },
  'duration-short': {
    rule: 'min_duration is at least 60 s.',
    by: [paper('section 4.6')],
    advice: 'Set min_duration to 60000 and make the run again.',
  },
  'queries-few': {
    rule: 'A run has at least the queries of its scenario: SingleStream 1,024, MultiStream and Server 270,336 (gnmt 90,112).',
    by: [paper('section 4.6, tables 4 and 5')],
    advice: 'Set min_query_count, and make the run again.',
  },
  'offline-samples-few': {
    rule: 'The query of an Offline run has at least 24,576 samples.',
    by: [paper('section 4.6 and table 5')],
  },
  'latency-bound-loose': { by: [paper('section 4.5 and table 3', CLOSED)] },
  'percentile-low': {
    rule: 'Latencies count at the percentile of the scenario: SingleStream 90, MultiStream and Server 99 (gnmt 97).',
    by: [paper('sections 4.5 and 4.6')],
  },
  'p99-above-bound': {
    rule: 'At most 1 % of the queries of Server (gnmt: 3 %) exceed the bound.',
    by: [paper('section 4.5')],
    advice: 'A lower target QPS; the round has no early stopping.',
  },
  'latency-impossible': { by: [], because: OWN },
  'metric-missing': {
    rule: "The log has the scenario's metric, above zero: 90th percentile of SingleStream, streams of MultiStream, rate of Server and Offline.",
    by: [paper('table 2')],
    advice: 'Take the log of a run that came to its end.',
  },
  'summary-unusable': { by: [r05('check_performance_dir')] },
  'summary-differs': { by: [draft('Load Generator')] },
  'errors-in-summary': { by: [], because: OWN },
  'accuracy-metric-missing': { by: [r05('check_accuracy_dir')] },
  'accuracy-below-target': { by: [paper('section 4.4 and table 1')] },
  'accuracy-line-twice': { by: [], because: OWN },
  'accuracy-total-differs': {
    by: [paper('section 4.7.3')],
  },
  'accuracy-impossible': { by: [], because: OWN },
  'accuracy-count-differs': {
    by: [paper('section 4.7.3')],
  },
  'accuracy-log-damaged': {
    rule: 'An accuracy log is whole.',
    by: [],
    because: OWN,
    advice: 'Take the log of the run.',
  },
  'accuracy-log-empty': { by: [paper('section 4.7.3')] },
};

import { posix } from 'node:path';
import { resultMetric } from '../../rules/submission-model.ts';
import { documentLines } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import { type Answer, performanceRuns, type ResultFacts, type ResultSite } from '../read/sites.ts';
import type { RuleRow, RuleTable } from './rule.ts';

const PAPER = 'paper of round v0.5';
const DRAFT = 'inference_rules v0.5';
/** It has the layout of the round's submissions, and asks for fewer things than the paper does. */
const CHECKER = 'submission-checker.py of branch r0.5';
const OWN = 'longhaul: one run, one log; v0.5 has no word on it';

/** Performance runs of a Server result. Source: paper of the round, section 4.6. */
const SERVER_RUNS = 5;

/** Largest difference of a rate from its five significant figures, as a share. */
const FIGURES_TOLERANCE = 1e-4;

/** Rows of a result's README with a rate of Server. */
const RATE_ROW = /^\| (Scheduled|Completed) samples per second\b[^|]*\| ([\d.]+) samples\/s \|/;
const RATE_KEYS: Readonly<Record<string, string>> = {
  Scheduled: 'result_scheduled_samples_per_sec',
  Completed: 'result_completed_samples_per_sec',
};

/** Records by which two logs are known to be of one run. */
const MARKS_OF_RUN = ['test_datetime', 'result_mean_latency_ns', 'result_max_latency_ns'];

/** Rules that no other round has. */
export const V05_RULES = {
  'division-unknown': {
    rule: 'The divisions are closed and open.',
    source: `${PAPER}, section 5.1.1`,
    advice:
      'A SUT behind a network is in a division of its own from later rounds on; submit to open.',
    path: ({ file, isFolder }) =>
      isFolder && file === 'network' && 'The round has no Network division.',
  },
  'server-runs': {
    rule: 'A Server result has five performance runs, run_1 to run_5.',
    source: `${PAPER}, section 4.6 ("we require five runs for the server scenario")`,
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
    source: `${PAPER}, section 4.6 ("For repeatability")`,
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
    source: `${PAPER}, section 4.6 ("with the result being the minimum of these five runs")`,
    advice: 'Build the tree again, or write the lowest figure.',
    read: resultNotMinimum,
  },
  'interval-wrong': {
    rule: "MultiStream sends a query in each of the model's arrival intervals.",
    source: `${PAPER}, section 4.5 and table 3`,
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
    source: `${PAPER}, section 4.5 ("No more than 1% of the queries may produce one or more skipped intervals"); gnmt: 4.6`,
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
    source: `${PAPER}, sections 4.7.4 and 5.2; longhaul has no tests of the round`,
    advice: "Run the round's own validation suite, if the result is to be reviewed.",
    tree: ({ listing }) => listing.hasFolder('closed') && 'It has results of the closed division.',
  },
} as const satisfies RuleTable;

const SKIPPING = 'longhaul_skipping_queries';

/** True for the names under which {@link ResultFacts} has a result's performance runs. */
function isPerformance(name: string): boolean {
  return name.startsWith('performance');
}

/** A README of longhaul states the result; in other trees the report of this check is the first to state it. */
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

/** The run of a Server result that is the result: the one with the lowest metric. */
export function lowestRun(site: ResultFacts): RunLog | undefined {
  const metric = resultMetric(site.model, site.scenario);
  const rateOf = (log: RunLog): number => log.number(metric) ?? 0;
  const logs = [...site.runs].filter(([name]) => isPerformance(name)).map(([, log]) => log);
  return logs.sort((a, b) => rateOf(a) - rateOf(b))[0];
}

/** Percentile of the scenario in LoadGen's keys: `99.00`; undefined outside of v0.5. */
export function roundPercentile({ model, scenario }: ResultSite): string | undefined {
  const share = scenario === 'Interactive' ? undefined : model?.v05?.percentiles[scenario];
  return share === undefined ? undefined : (share * 100).toFixed(2);
}

/** Texts of rules in round v0.5 that have other words in later rounds. */
type Held = Partial<Pick<RuleRow, 'rule' | 'advice' | 'severity'>> & { readonly source: string };

/**
 * Rules of all rounds that hold in v0.5 as well, each with the text that asks for it there: no other does.
 * {@link V05_RULES} are the round's own.
 */
export const HELD_IN_V05: Readonly<Record<string, Held>> = {
  'stand-in-model': { source: `${PAPER}, section 4.3; ${DRAFT}, Model` },
  'not-approved-loadgen': {
    source: `${DRAFT}, Load Generator ("must be used by all submissions")`,
  },
  'loadgen-not-known': { source: `${PAPER}, section 4.7.4 (LoadGen checks its own sources)` },
  'loadgen-contradicted': { source: OWN },
  'own-records-removed': { source: OWN },
  'dry-run-lengths': { source: 'longhaul submission build --dry-run-lengths' },
  'no-results': { source: `${PAPER}, section 5.1` },
  'no-plain-file': { source: OWN },
  'missing-file': { source: `${CHECKER}; ${PAPER}, section 5.1 ("LoadGen log files")` },
  'missing-folder': { source: `${CHECKER}; ${PAPER}, section 5.1 ("LoadGen log files")` },
  'empty-file': { source: `${PAPER}, section 5.1` },
  'extra-file': { source: `${CHECKER}` },
  'extra-run': {
    severity: 'error',
    rule: 'Server has run_1 to run_5, every other scenario run_1 alone.',
    source: `${PAPER}, section 4.6 ("The other scenarios require one run")`,
    advice: 'Remove the others.',
  },
  'code-missing': { source: `${CHECKER}; ${PAPER}, section 5.1 ("benchmark code")` },
  'model-unknown': {
    rule: 'The model folder is resnet, mobilenet, ssd-small, ssd-large or gnmt; in open, model_mapping.json may map it to one.',
    source: `${CHECKER}; ${PAPER}, table 1`,
  },
  'scenario-unknown': {
    rule: 'The scenario is SingleStream, MultiStream, Server or Offline.',
    source: `${PAPER}, section 4.5 and figure 5`,
    advice: 'Remove the scenario, or fix the name of the folder.',
  },
  'json-broken': { source: CHECKER },
  'not-utf8': { source: `${CHECKER} breaks off at other bytes` },
  'system-missing': { source: `${CHECKER}; ${PAPER}, section 5.1` },
  'field-missing': {
    rule: 'The description has every key of the round.',
    source: `${CHECKER}; systems/ of the round's submissions`,
  },
  'field-empty': { source: `${PAPER}, section 5.1 ("a system-description file")` },
  'field-unknown': {
    severity: 'error',
    rule: 'The description has only keys of the round.',
    source: `${CHECKER}: keys of later rounds are refused`,
  },
  'todo-left': {
    source: 'longhaul submission system describe marks with TODO what it could not read',
  },
  'division-differs': { source: CHECKER },
  'submitter-differs': { source: CHECKER },
  'status-unknown': {
    rule: '"status" is available, preview or rdo (rdi).',
    source: `${PAPER}, section 5.1.2`,
  },
  'measurements-file-missing': {
    rule: 'A result has <system>_<implementation>_<scenario>.json.',
    source: CHECKER,
  },
  'measurements-field-missing': { source: CHECKER },
  'retraining-stated': {
    rule: 'Closed does not retrain the model.',
    source: `${PAPER}, section 4.8.1; ${DRAFT}, Divisions`,
  },
  'conf-not-for-loadgen': { source: 'LoadGen refuses other lines' },
  'user-conf-differs': { source: OWN },
  'log-empty': { source: `${PAPER}, section 5.1 ("LoadGen log files")` },
  'log-damaged': { source: OWN },
  'log-cut': { source: OWN },
  'record-missing': {
    rule: 'The detail log has every record that this check reads.',
    source: OWN,
  },
  'record-not-number': { source: OWN },
  'error-in-log': { severity: 'warning', source: `${CHECKER} warns` },
  'result-invalid': {
    source: `${CHECKER}; ${PAPER}, section 4.7 (LoadGen "determines whether the run was valid")`,
  },
  'constraint-not-met': { source: `${PAPER}, section 4.6; LoadGen, result_*_met` },
  'record-twice': { source: OWN },
  'seed-wrong': {
    rule: "The three seeds are those of the round's submissions.",
    source: `${DRAFT}, Non-determinism is restricted ("a fixed random seed"); logs of the round's submissions`,
    advice: 'Run with --round v0.5.',
  },
  'seed-rounded': { source: OWN },
  'accuracy-seed-wrong': {
    source: `${DRAFT}, Load Generator (the accuracy run "is otherwise identical")`,
  },
  'scenario-differs': {
    rule: 'effective_scenario is the scenario of the folder.',
    source: `${PAPER}, section 4.5`,
    advice: 'Put the logs into the folder of their scenario; the round infers no result.',
  },
  'mode-differs': { source: `${PAPER}, section 4.7.3` },
  'audit-in-result': {
    rule: "A result's run does not have a validation test's settings.",
    source: `${PAPER}, section 4.7.4`,
  },
  'closed-over-network': {
    rule: 'No result is of a SUT behind a network: the round has no division for it.',
    source: `${PAPER}, section 5.1.1; ${DRAFT}, Load Generator ("must run on the processor that most faithfully simulates queries arriving from the most logical source")`,
    advice: 'Be ready to explain it, or measure the SUT in the process of LoadGen.',
  },
  'performance-samples-few': {
    source: `${CHECKER}; ${PAPER}, section 4.7.3 ("enough data-set samples")`,
  },
  'duration-short': {
    rule: 'min_duration is at least 60 s.',
    source: `${PAPER}, section 4.6 ("must also run for at least 60 seconds")`,
    advice: 'Set min_duration to 60000 and make the run again.',
  },
  'queries-few': {
    rule: 'A run has at least the queries of its scenario: SingleStream 1,024, MultiStream and Server 270,336 (gnmt 90,112).',
    source: `${PAPER}, section 4.6, tables 4 and 5`,
    advice: 'Set min_query_count, and make the run again.',
  },
  'offline-samples-few': {
    rule: 'The query of an Offline run has at least 24,576 samples.',
    source: `${PAPER}, section 4.6 and table 5`,
  },
  'latency-bound-loose': { source: `${PAPER}, section 4.5 and table 3` },
  'percentile-low': {
    rule: 'Latencies count at the percentile of the scenario: SingleStream 90, MultiStream and Server 99 (gnmt 97).',
    source: `${PAPER}, sections 4.5 and 4.6`,
  },
  'p99-above-bound': {
    severity: 'error',
    rule: 'At most 1 % of the queries of Server (gnmt: 3 %) exceed the bound.',
    source: `${PAPER}, section 4.5`,
    advice: 'A lower target QPS; the round has no early stopping.',
  },
  'latency-impossible': { source: OWN },
  'metric-missing': {
    rule: "The log has the scenario's metric, above zero: 90th percentile of SingleStream, streams of MultiStream, rate of Server and Offline.",
    source: `${PAPER}, table 2`,
    advice: 'Take the log of a run that came to its end.',
  },
  'summary-unusable': { source: `${CHECKER} reads the summary` },
  'summary-differs': { source: OWN },
  'errors-in-summary': { source: OWN },
  'accuracy-metric-missing': { source: CHECKER },
  'accuracy-below-target': { source: `${PAPER}, section 4.4 and table 1` },
  'accuracy-line-twice': { source: OWN },
  'accuracy-total-differs': {
    source: `${PAPER}, section 4.7.3 ("goes through the entire data set")`,
  },
  'accuracy-impossible': { source: OWN },
  'accuracy-count-differs': {
    source: `${PAPER}, section 4.7.3 ("goes through the entire data set")`,
  },
  'accuracy-log-damaged': {
    rule: 'An accuracy log is whole.',
    source: OWN,
    advice: 'Take the log of the run.',
  },
  'accuracy-log-empty': { source: `${PAPER}, section 4.7.3` },
};

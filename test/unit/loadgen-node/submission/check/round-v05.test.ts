/**
 * Trees of round v0.5, which no official tool can judge any more. Goal: a good tree of each model and scenario has no error; each
 * fault is found, by the rule that the round's paper has, and no other is. Method: a tree with one fault, planted in its files.
 */
import { describe, expect, it } from 'vitest';
import {
  type FindingId,
  RULE_GROUPS,
} from '../../../../../loadgen-node/submission/check/rules/findings.ts';
import {
  HELD_IN_V05,
  V05_RULES,
} from '../../../../../loadgen-node/submission/check/rules/v05-rules.ts';
import { modelsOfRound } from '../../../../../loadgen-node/submission/rules/models-of-rounds.ts';
import type { SubmissionScenario } from '../../../../../loadgen-node/submission/rules/submission-model.ts';
import {
  type Change,
  copy,
  json,
  record,
  remove,
  replace,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import { checkedTree, idsOf } from '../../../../scenes/submission-tree/submission-tree.ts';

const FOUR = ['SingleStream', 'MultiStream', 'Server', 'Offline'] as const;
const MODEL = 'ssd-small';
const ACME = 'closed/ACME';
const RESULTS = `${ACME}/results/acme/${MODEL}`;
const MEASUREMENTS = `${ACME}/measurements/acme/${MODEL}`;
const logOf = (scenario: SubmissionScenario, run = 1) =>
  `${RESULTS}/${scenario}/performance/run_${run}/mlperf_log_detail.txt`;

/** Ids of the errors of a tree of ssd-small in every scenario, and how the check says them. */
async function errorsOf(...changes: readonly Change[]) {
  const { findings } = await checkedTree({
    ...{ round: 'v0.5', model: MODEL, scenarios: FOUR, changes },
  });
  const errors = findings.filter(({ severity }) => severity === 'error');
  return { ids: idsOf(errors), errors };
}

it.each(modelsOfRound('v0.5').map(({ name }) => name))('takes a good tree of %s', async (model) => {
  const report = await checkedTree({ round: 'v0.5', model, scenarios: FOUR });
  expect([report.round, report.roundFrom]).toEqual(['v0.5', 'seeds of the logs']);
  expect(report.findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  expect(report.ids).toEqual(['validation-unchecked']);
  const values = report.results.map(({ scenario, metric, value }) => [scenario, metric, value]);
  expect(values).toEqual([
    ['MultiStream', 'effective_samples_per_query', 50],
    ['Offline', 'result_samples_per_second', 50],
    // The lowest of 51 to 55.
    ['Server', 'result_scheduled_samples_per_sec', 51],
    ['SingleStream', 'result_90.00_percentile_latency_ns', 50],
  ]);
});

it('takes any choice of scenarios, in open as well', async () => {
  for (const scenario of FOUR) {
    const tree = { round: 'v0.5', model: 'gnmt', scenarios: [scenario] } as const;
    expect((await checkedTree({ ...tree })).counts.error).toBe(0);
    expect((await checkedTree({ ...tree, division: 'open' })).counts.error).toBe(0);
  }
});

const README = `${MEASUREMENTS}/Server/README.md`;
const rates = (scheduled: string) =>
  write(
    README,
    `| Scheduled samples per second (x), lowest of 5 runs | ${scheduled} samples/s |\n`,
  );
const SYSTEM = `${ACME}/systems/acme.json`;

describe('finds', () => {
  it.each<readonly [what: string, changes: readonly Change[], ids: readonly FindingId[]]>([
    [
      'a seed of another round',
      [record(logOf('Server', 3), 'effective_qsl_rng_seed', '3066443479025735752')],
      ['seed-wrong'],
    ],
    ['four runs of Server', [remove(`${RESULTS}/Server/performance/run_5`)], ['server-runs']],
    [
      'a sixth run of Server',
      [
        copy(`${RESULTS}/Server/performance/run_5`, `${RESULTS}/Server/performance/run_6`),
        record(logOf('Server', 6), 'test_datetime', '"2026-07-02T11:00:00Z"'),
      ],
      ['extra-run', 'server-runs'],
    ],
    [
      'a run that is there twice',
      [
        remove(`${RESULTS}/Server/performance/run_4`),
        copy(`${RESULTS}/Server/performance/run_2`, `${RESULTS}/Server/performance/run_4`),
      ],
      ['run-twice'],
    ],
    [
      'five runs of Offline',
      [copy(`${RESULTS}/Offline/performance/run_1`, `${RESULTS}/Offline/performance/run_2`)],
      ['extra-run'],
    ],
    [
      'an invalid run among the five',
      [record(logOf('Server', 4), 'result_validity', '"INVALID"')],
      ['result-invalid', 'summary-differs'],
    ],
    [
      'too few queries of Server',
      [record(logOf('Server', 2), 'effective_min_query_count', '90112')],
      ['queries-few'],
    ],
    [
      'too few queries of SingleStream',
      [record(logOf('SingleStream'), 'effective_min_query_count', '1023')],
      ['queries-few'],
    ],
    [
      'too few queries of MultiStream',
      [record(logOf('MultiStream'), 'effective_min_query_count', '24576')],
      ['queries-few'],
    ],
    [
      'too few samples of Offline',
      [record(logOf('Offline'), 'effective_samples_per_query', '24575')],
      ['offline-samples-few'],
    ],
    [
      'too short a run',
      [record(logOf('SingleStream'), 'effective_min_duration_ms', '59999')],
      ['duration-short'],
    ],
    [
      'a loose bound',
      [record(logOf('Server', 5), 'effective_target_latency_ns', '15000000')],
      ['latency-bound-loose'],
    ],
    [
      'a low percentile',
      [record(logOf('Server'), 'effective_target_latency_percentile', '0.97')],
      ['percentile-low'],
    ],
    [
      'a tail above the bound',
      [replace(logOf('Server'), /$/, line('result_99.00_percentile_latency_ns', '10000001'))],
      ['p99-above-bound'],
    ],
    [
      'another arrival interval',
      [record(logOf('MultiStream'), 'effective_target_qps', '15.1515')],
      ['interval-wrong'],
    ],
    [
      'few performance samples',
      [record(logOf('Offline'), 'effective_performance_sample_count', '255')],
      ['performance-samples-few'],
    ],
    ['a result that is not the lowest', [rates('53.000')], ['result-not-minimum']],
    [
      'a missed quality target',
      [replace(`${RESULTS}/Server/accuracy/accuracy.txt`, '22.001', '21.999')],
      ['accuracy-below-target'],
    ],
    [
      'a part of the data set',
      [
        record(
          `${RESULTS}/Server/accuracy/mlperf_log_detail.txt`,
          'qsl_reported_total_count',
          '4999',
        ),
      ],
      ['accuracy-count-differs'],
    ],
    ['a missing log', [remove(logOf('Server', 3))], ['missing-file']],
    [
      'a missing accuracy log',
      [remove(`${RESULTS}/Offline/accuracy/mlperf_log_accuracy.json`)],
      ['missing-file'],
    ],
    ['a missing mlperf.conf', [remove(`${MEASUREMENTS}/Server/mlperf.conf`)], ['missing-file']],
    ['no code', [remove(`${ACME}/code`)], ['code-missing']],
    ['a key of a later round', [json(SYSTEM, { system_type: 'edge' })], ['field-unknown']],
    ['a folder network', [write('network/README.md')], ['division-unknown']],
  ])('%s', async (_what, changes, ids) => {
    const found = await errorsOf(...changes);
    expect(found.ids).toEqual(ids);
    for (const { source } of found.errors) expect(source).not.toMatch(/v4\.1|every official/);
  });

  it('skipped intervals, of which one in a hundred is allowed', async () => {
    const skip = async (count: string) => {
      const records = { longhaul_skipping_queries: count, result_query_count: '270336' };
      const changes = Object.entries(records).map(([key, value]) =>
        replace(logOf('MultiStream'), /$/, line(key, value)),
      );
      return (await errorsOf(...changes)).ids.includes('intervals-skipped');
    };
    expect([await skip('2703'), await skip('2704')]).toEqual([false, true]);
  });
});

it('states the lowest result, as a README may', async () => {
  expect((await errorsOf(rates('51.000'))).ids).toEqual([]);
});

it('has a text of the round for every rule that it asks for, and asks for no other', () => {
  const known = Object.values(RULE_GROUPS).flatMap((table) => Object.keys(table));
  expect(Object.keys(HELD_IN_V05).filter((id) => !known.includes(id))).toEqual([]);
  expect(Object.keys(HELD_IN_V05).filter((id) => id in V05_RULES)).toEqual([]);
  for (const { rule, by } of Object.values(V05_RULES)) {
    expect(by[0]?.in, rule).toBe('paper of round v0.5');
  }
});

function line(key: string, value: string): string {
  return `:::MLLOG {"key": "${key}", "value": ${value}, "time_ms": 1.0, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {"is_error": false, "is_warning": false, "file": "logging.cc", "line_no": 464, "pid": 1, "tid": 1}}\n`;
}

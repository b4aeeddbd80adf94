/**
 * Trees of round v0.5, with logs of today's form and of the round's own. Goal: a good tree of each
 * model and scenario has no error; each fault is found, by the rule that the round's paper has, and
 * no other is. Method: a tree with one fault, planted in its files.
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
import type { SubmissionScenario } from '../../../../../shared/rules/rows/model-row.ts';
import {
  type Change,
  copy,
  json,
  move,
  record,
  remove,
  replace,
  rewrite,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import { checkedTree, idsOf } from '../../../../scenes/submission-tree/submission-tree.ts';

const FOUR = ['SingleStream', 'MultiStream', 'Server', 'Offline'] as const;
const MODEL = 'ssd-small';
const ACME = 'closed/ACME';
const RESULTS = `${ACME}/results/acme/${MODEL}`;
const MEASUREMENTS = `${ACME}/measurements/acme/${MODEL}`;
const summaryOf = (scenario: SubmissionScenario, run = 1) =>
  `${RESULTS}/${scenario}/performance/run_${run}/mlperf_log_summary.txt`;
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

describe('logs of LoadGen v0.5', () => {
  const old = { round: 'v0.5', scenarios: FOUR, areLogsOld: true } as const;

  it.each(modelsOfRound('v0.5').map(({ name }) => name))(
    'take a good tree of %s',
    async (model) => {
      const report = await checkedTree({ ...old, model });
      expect([report.round, report.roundFrom]).toEqual(['v0.5', 'seeds of the logs']);
      expect(report.ids).toEqual(['validation-unchecked']);
      const today = await checkedTree({ ...old, model, areLogsOld: false });
      expect(report.results).toEqual(today.results.map((one) => ({ ...one, p99Ns: 50 })));
    },
  );

  it.each<readonly [what: string, change: Change, id: FindingId, file: string, line: number]>([
    [
      'another seed',
      replace(logOf('Server', 3), 'qsl_rng_seed : 3133965575612453542', 'qsl_rng_seed : 7'),
      ...(['seed-wrong', logOf('Server', 3), 27] as const),
    ],
    [
      'an INVALID run, of which the summary tells',
      replace(summaryOf('Server', 2), 'Result is : VALID', 'Result is : INVALID'),
      ...(['result-invalid', summaryOf('Server', 2), 6] as const),
    ],
    [
      'no verdict',
      replace(summaryOf('Server', 2), 'Result is : VALID\n', ''),
      ...(['record-missing', logOf('Server', 2), 0] as const),
    ],
    [
      'a summary without the number of samples, where the check of the round looks for it',
      replace(summaryOf('Offline'), /performance_sample_count.*\n/, ''),
      ...(['performance-samples-few', summaryOf('Offline'), 0] as const),
    ],
    [
      'a log of another scenario',
      replace(logOf('SingleStream'), 'Scenario : Single Stream', 'Scenario : Offline'),
      ...(['scenario-differs', logOf('SingleStream'), 20] as const),
    ],
    [
      'another setting in the log than in the folder',
      replace(logOf('Server'), 'min_duration (ms): 60000', 'min_duration (ms): 59000'),
      ...(['duration-short', logOf('Server'), 25] as const),
    ],
    [
      'a damaged record',
      replace(logOf('Server'), '"ts": 3ns : ', '"ts": 3 : '),
      ...(['log-damaged', logOf('Server'), 4] as const),
    ],
    [
      'a cut log',
      rewrite(logOf('Server'), (text) => text.slice(0, -1)),
      ...(['log-cut', logOf('Server'), 44] as const),
    ],
  ])('with %s', async (_what, change, id, file, line) => {
    const { findings } = await checkedTree({ ...old, model: MODEL, changes: [change] });
    const errors = findings.filter(({ severity }) => severity === 'error');
    const seen = errors.map((one) => [one.id, one.file, one.line ?? 0]);
    expect(seen).toContainEqual([id, file, line]);
  });
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
const WEIGHTS = `${MEASUREMENTS}/Offline/acme_own_Offline.json`;

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
      ['server-runs'],
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
    ['no code of the implementation', [remove(`${ACME}/code/${MODEL}/own`)], ['code-missing']],
    ['a system without a required key', [json(SYSTEM, { framework: null })], ['field-missing']],
    ['another submitter', [json(SYSTEM, { submitter: 'Acme' })], ['submitter-differs']],
    ['a division without a name', [json(SYSTEM, { division: '' })], ['division-differs']],
    [
      'measurements without a key',
      [json(WEIGHTS, { retraining: null })],
      ['measurements-field-missing'],
    ],
    ['a foreign key of the measurements', [json(WEIGHTS, { more: '1' })], ['field-unknown']],
    ['a file of git', [write(`${RESULTS}/Server/accuracy/.gitkeep`)], ['extra-file']],
    [
      'a file of a power measurement',
      [write(`${RESULTS}/Server/performance/run_1/spl.txt`)],
      ['extra-file'],
    ],
    ['a key of a later round', [json(SYSTEM, { system_type: 'edge' })], ['field-unknown']],
    ['a folder network', [write('network/README.md')], ['division-unknown']],
  ])('%s', async (_what, changes, ids) => {
    const found = await errorsOf(...changes);
    expect(found.ids).toEqual(ids);
    for (const { source } of found.errors) expect(source).not.toMatch(/v4\.1|every official/);
  });

  it.each<readonly [what: string, change: Change, id: FindingId]>([
    [
      'a second run of Offline',
      copy(`${RESULTS}/Offline/performance/run_1`, `${RESULTS}/Offline/performance/run_2`),
      'extra-run',
    ],
    ['an empty user.conf', write(`${MEASUREMENTS}/Offline/user.conf`, ''), 'empty-file'],
    ['an empty value', json(SYSTEM, { framework: '' }), 'field-empty'],
    [
      'other seeds of the accuracy run',
      record(`${RESULTS}/Server/accuracy/mlperf_log_detail.txt`, 'effective_qsl_rng_seed', '0'),
      'accuracy-seed-wrong',
    ],
  ])('%s, as a warning: the check of the round takes it', async (_what, change, id) => {
    const { findings } = await checkedTree({
      ...{ round: 'v0.5', model: MODEL, scenarios: FOUR, changes: [change] },
    });
    const others = findings.filter(({ severity }) => severity !== 'note');
    expect(others.map((one) => [one.id, one.severity])).toEqual([[id, 'warning']]);
  });

  it('no fault in a description without the keys that the round does not require', async () => {
    const keys = ['host_processor_caches', 'cooling', 'accelerator_frequency', 'sw_notes'];
    const without = Object.fromEntries(keys.map((key) => [key, undefined]));
    expect((await errorsOf(json(SYSTEM, without))).ids).toEqual([]);
  });

  it('other bounds and intervals as an error in closed alone', async () => {
    for (const division of ['closed', 'open'] as const) {
      const of = (path: string) => path.replace('closed/', `${division}/`);
      const { findings } = await checkedTree({
        ...{ round: 'v0.5', model: MODEL, scenarios: FOUR, division },
        changes: [
          record(of(logOf('MultiStream')), 'effective_target_qps', '500'),
          record(of(logOf('Server')), 'effective_target_latency_ns', '99000000'),
        ],
      });
      const severity = division === 'open' ? 'warning' : 'error';
      const seen = findings.filter(({ id }) => id !== 'validation-unchecked');
      expect(seen.map((one) => [one.id, one.severity])).toEqual([
        ['interval-wrong', severity],
        ['latency-bound-loose', severity],
      ]);
    }
  });

  it('no fault in sources of a measurements file that names no implementation', async () => {
    const name = `${MEASUREMENTS}/Offline/acme`;
    expect((await errorsOf(move(`${name}_own_Offline.json`, `${name}_Offline.json`))).ids).toEqual(
      [],
    );
  });

  it('no model behind a model_mapping.json, which the round does not know', async () => {
    const { ids } = await checkedTree({
      ...{ round: 'v0.5', model: MODEL, scenarios: ['Offline'], division: 'open' },
      changes: [
        move('open/ACME/results/acme/ssd-small', 'open/ACME/results/acme/my-net'),
        write('open/ACME/model_mapping.json', '{"my-net": "ssd-small"}'),
      ],
    });
    expect(ids).toContain('model-unknown');
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

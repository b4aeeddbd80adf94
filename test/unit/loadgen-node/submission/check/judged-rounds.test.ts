/**
 * Goal: trees of rounds that are judged and not run are judged by their own rules, and the round is
 * found by itself. Method: generated trees in the words of the C++ LoadGen: first without a fault,
 * then what the rounds differ in.
 */
import { expect, it } from 'vitest';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { treeReportText } from '../../../../../loadgen-node/submission/check/report/check-text.ts';
import {
  SEED_NAMES,
  type SubmissionRound,
} from '../../../../../loadgen-node/submission/rules/submission-rounds.ts';
import {
  type Change,
  json,
  record,
  remove,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import {
  checkedTree,
  idsOf,
  type TreeOptions,
} from '../../../../scenes/submission-tree/submission-tree.ts';

const RESULTS = 'closed/ACME/results/acme/resnet50';
const DETAIL = 'mlperf_log_detail.txt';
const SYSTEM = 'closed/ACME/systems/acme.json';

it.each<[TreeOptions, string[]]>([
  [{ round: 'v2.1' }, []],
  [{ round: 'v2.1', model: 'rnnt' }, []],
  [{ round: 'v2.1', model: '3d-unet-99', scenarios: ['Offline'] }, []],
  [{ round: 'v3.0', division: 'network', model: 'bert-99.9' }, ['network-rules-unproved']],
  [{ round: 'v3.0', model: 'dlrm-99' }, []],
  [{ round: 'v3.1', model: 'gptj-99' }, []],
  [{ round: 'v4.0', division: 'network', model: 'retinanet' }, ['network-rules-unproved']],
  [{ round: 'v4.0', model: 'llama2-70b-99' }, []],
  [{ round: 'v4.0', model: 'stable-diffusion-xl' }, []],
])('finds the round of $round, and has nothing to say of a good tree', async (tree, expected) => {
  const { ids, round, roundFrom } = await checkedTree(tree);
  expect([round, roundFrom]).toEqual([tree.round, 'seeds of the logs']);
  expect(ids).toEqual(expected);
});

it.each<[SubmissionRound, string]>([
  ['v3.1', 'result_scheduled_samples_per_sec'],
  ['v4.0', 'result_scheduled_samples_per_sec'],
  ['v4.1', 'result_completed_samples_per_sec'],
])('reports as the result of Server in %s what its check does: %s', async (round, metric) => {
  const { results } = await checkedTree({ round });
  expect(results.find(({ scenario }) => scenario === 'Server')).toMatchObject({
    metric,
    value: 50,
  });
});

const WITHOUT_LATER_KEYS = json(SYSTEM, {
  host_network_card_count: undefined,
  system_type_detail: undefined,
  cooling: '',
});

it.each<[string, SubmissionRound, Change, string, 'error' | 'warning' | undefined]>([
  ['keys of v3.1', 'v3.0', WITHOUT_LATER_KEYS, 'field-missing', undefined],
  ['keys of v3.1', 'v3.1', WITHOUT_LATER_KEYS, 'field-missing', 'error'],
  ['an empty key', 'v3.0', WITHOUT_LATER_KEYS, 'field-empty', 'warning'],
  ['an empty key', 'v3.1', WITHOUT_LATER_KEYS, 'field-empty', 'error'],
  ['another file', 'v3.0', write(`${RESULTS}/Server/accuracy/run.log`), 'extra-file', 'warning'],
  ['another file', 'v3.1', write(`${RESULTS}/Server/accuracy/run.log`), 'extra-file', 'error'],
  [
    'another file of a test',
    'v2.1',
    write(`closed/ACME/compliance/acme/resnet50/Server/TEST01/performance/run_1/run.log`),
    'test-extra-file',
    'error',
  ],
  ['a name with a space', 'v2.1', write('closed/ACME/a file.md'), 'name-with-space', 'warning'],
  ['a name with a space', 'v3.0', write('closed/ACME/a file.md'), 'name-with-space', 'error'],
  [
    'a wrong seed',
    'v3.0',
    record(`${RESULTS}/Server/performance/run_1/${DETAIL}`, 'effective_schedule_rng_seed', '5'),
    'seed-wrong',
    'error',
  ],
  [
    'too few samples',
    'v3.0',
    record(`${RESULTS}/Offline/performance/run_1/${DETAIL}`, 'effective_samples_per_query', '9'),
    'offline-samples-few',
    'error',
  ],
  [
    'no test',
    'v4.0',
    remove('closed/ACME/compliance/acme/resnet50/Server/TEST04'),
    'test-missing',
    'error',
  ],
  [
    'no mlperf.conf',
    'v3.1',
    remove('closed/ACME/measurements/acme/resnet50/Server/mlperf.conf'),
    'missing-file',
    'error',
  ],
])('judges %s in %s as its check does', async (_, round, change, id, severity) => {
  const { findings } = await checkedTree({ round, changes: [change] }, { round });
  expect(findings.find((one) => one.id === id)?.severity).toBe(severity);
});

/** A tree of v2.1 whose logs are of another LoadGen, with seeds of no known round. */
function ofLoadgen(version: string, seeds = ['1', '2', '3']): TreeOptions {
  const logs = ['Server', 'Offline'].flatMap((scenario) =>
    [
      ...['performance/run_1', 'accuracy'].map((run) => `${RESULTS}/${scenario}/${run}`),
      ...['TEST01', 'TEST04', 'TEST05'].map(
        (test) => `closed/ACME/compliance/acme/resnet50/${scenario}/${test}/performance/run_1`,
      ),
    ].map((run) => `${run}/${DETAIL}`),
  );
  const changes = logs.flatMap((log) => [
    record(log, 'loadgen_version', `"${version} @ 9e0f9a3b21"`),
    ...SEED_NAMES.map((name, i) => record(log, `effective_${name}`, seeds[i] ?? null)),
  ]);
  return { round: 'v2.1', changes };
}

it('names a round that it does not know in one line, and judges the rest', async () => {
  const report = await checkedTree(ofLoadgen('2.0'));
  expect([report.round, report.roundFrom]).toEqual(['v2.1', 'LoadGen of the logs']);
  expect(report.findings.map(({ id, seen }) => [id, seen])).toEqual([
    ['round-not-known', 'The logs are of round v2.0; they are judged by v2.1, without its seeds.'],
  ]);
  expect(treeReportText(report)).toMatch(
    /^Submission check by .*, round v2\.1 \(in place of v2\.0: LoadGen of the logs\)\n[\s\S]*rules of v2\.1, which is not the round of the logs\.\n$/,
  );
});

it('knows other rounds by their seeds, where LoadGen does not tell its own', async () => {
  const seeds = ['7322528924094909334', '1570999273408051088', '3507442325620259414'];
  const { findings, ids, roundFrom } = await checkedTree(ofLoadgen('.5a1', seeds));
  expect([roundFrom, ids]).toEqual(['seeds of the logs', ['loadgen-not-known', 'round-not-known']]);
  expect(findings.find(({ id }) => id === 'round-not-known')?.seen).toBe(
    'The logs are of round v1.0; they are judged by v2.1, without its seeds.',
  );
});

it('finds the round by LoadGen where the seeds are of none, and says that they are wrong', async () => {
  const { root, ids, roundFrom } = await checkedTree(ofLoadgen('3.0'));
  expect([ids, roundFrom]).toEqual([['accuracy-seed-wrong', 'seed-wrong'], 'LoadGen of the logs']);
  const said = await checkTree(root, { round: 'v2.1' });
  expect([said.round, idsOf(said.findings)]).toEqual([
    'v2.1',
    ['accuracy-seed-wrong', 'seed-wrong'],
  ]);
});

it.each<[SubmissionRound, RegExp]>([
  ['v3.0', /^Run with the C\+\+ LoadGen of the round and its mlperf\.conf/],
  ['v5.0', /\(--round\)/],
])('advises of wrong seeds in %s what can be done: %s', async (round, advice) => {
  const changes = ['performance/run_1', 'accuracy'].map((run) =>
    record(`${RESULTS}/Server/${run}/${DETAIL}`, 'effective_qsl_rng_seed', '5'),
  );
  const { findings } = await checkedTree({ round, changes }, { round });
  const of = (id: string) => findings.find((one) => one.id === id)?.advice;
  expect(of('seed-wrong')).toMatch(advice);
  expect(of('accuracy-seed-wrong')).toMatch(advice);
});

it('advises of a missing test with its command, in a round that can be run', async () => {
  const changes = [remove('closed/ACME/compliance/acme/resnet50/Server/TEST05')];
  const { findings } = await checkedTree({ changes });
  const advices = findings.filter(({ id }) => id === 'test-missing').map(({ advice }) => advice);
  expect(advices).toEqual([
    'Run it: longhaul compliance TEST05 --run FOLDER, the folder of the run whose logs are in performance/run_1.',
  ]);
});

it('cannot be run: the setting says why', () => {
  const { error } = RUN_SETTINGS.round.schema.safeParse('v3.0');
  expect(error?.issues[0]?.message).toMatch(
    /; v3\.0 can be judged \(submission check\) but not run: /,
  );
});

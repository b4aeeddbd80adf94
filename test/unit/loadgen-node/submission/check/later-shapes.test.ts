/**
 * Shapes of published submissions of v5.0 and later, and the figures that the report has of
 * results.
 */
import { expect, it } from 'vitest';
import type { FindingId } from '../../../../../loadgen-node/submission/check/rules/findings.ts';
import {
  append,
  type Change,
  copy,
  prepend,
  record,
  remove,
  rewrite,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import {
  checkedTree,
  idsOf,
  type TreeOptions,
} from '../../../../scenes/submission-tree/submission-tree.ts';

const ACME = 'closed/ACME';
const V60 = { round: 'v6.0', model: '3d-unet-99', scenarios: ['Offline'] } as const;
const WAN = { round: 'v6.0', model: 'wan-2.2-t2v-a14b' } as const;
const RESULT = `${ACME}/results/acme/3d-unet-99/Offline`;
const LOG = `${RESULT}/performance/run_1/mlperf_log_detail.txt`;
const RESNET = `${ACME}/results/acme/resnet50`;
const SAMPLES = 'effective_performance_sample_count';
const WAN_SCENARIOS = ['Offline', 'SingleStream'] as const;

type Shape = readonly [string, TreeOptions, readonly Change[], readonly FindingId[]];

async function check(tree: TreeOptions, changes: readonly Change[]) {
  const { findings } = await checkedTree({ ...tree, changes }, { round: tree.round ?? 'v4.1' });
  const of = (severity: string) => idsOf(findings.filter((one) => one.severity === severity));
  return { errors: of('error'), warnings: of('warning') };
}

it.each<Shape>([
  [
    'what the check of v6.0 does not look at',
    V60,
    [
      write(`${ACME}/.DS_Store`),
      write(`${RESULT}/performance/run_1/metadata.json`, '{}'),
      write(`${RESULT}/TEST01/accuracy/output.log`),
      remove(`${ACME}/calibration.md`),
      copy(`${ACME}/systems/acme.json`, `${ACME}/systems/acme-2.json`),
      append(`${RESULT}/accuracy/accuracy.txt`, `hash=${'a'.repeat(64)}\n`),
    ],
    ['calibration-missing', 'extra-file', 'hash-twice', 'name-with-dot', 'system-unused'],
  ],
  [
    'as many samples as the check asks for, and fewer than mlperf.conf',
    { ...WAN, scenarios: WAN_SCENARIOS, records: { [SAMPLES]: '56' } },
    [],
    ['performance-samples-below-conf'],
  ],
  [
    'a verdict of v5.1 with words around it',
    { round: 'v5.1', model: 'retinanet', scenarios: ['Server', 'Offline'] },
    ['Server', 'Offline'].map((scenario) =>
      rewrite(
        `${ACME}/compliance/acme/retinanet/${scenario}/TEST01/verify_accuracy.txt`,
        () => 'The verdict: TEST PASS.\n',
      ),
    ),
    [],
  ],
  [
    'a run of v5.1 without a record of early stopping',
    { round: 'v5.1', model: 'retinanet' },
    [
      record(
        `${ACME}/results/acme/retinanet/Server/performance/run_1/mlperf_log_detail.txt`,
        'early_stopping_met',
        null,
      ),
    ],
    [],
  ],
  [
    'seeds of 0 in an accuracy run',
    {},
    [record(`${RESNET}/Server/accuracy/mlperf_log_detail.txt`, 'effective_qsl_rng_seed', '0')],
    ['accuracy-seed-wrong'],
  ],
])('accepts as the check of the round does: %s', async (_, tree, changes, warnings) => {
  expect(await check(tree, changes)).toEqual({ errors: [], warnings });
});

it.each<Shape>([
  ['a byte order mark in v6.0', V60, [prepend(LOG, '\ufeff')], ['log-first-line']],
  [
    'a file beside the logs of a test in v6.0',
    V60,
    [write(`${RESULT}/TEST01/performance/run_1/output.log`)],
    ['test-extra-file'],
  ],
  [
    'the log of a power meter without a measurement of power',
    {},
    [write(`${RESNET}/Server/performance/run_1/spl.txt`)],
    ['extra-file'],
  ],
  [
    'the log of a power meter beside those of an accuracy run',
    {},
    [write(`${RESNET}/Server/accuracy/spl.txt`)],
    ['extra-file'],
  ],
  [
    'a verdict of v6.0 with words around it',
    V60,
    [rewrite(`${RESULT}/TEST01/verify_accuracy.txt`, () => 'The verdict: TEST PASS.\n')],
    ['baseline-missing'],
  ],
  [
    'fewer samples than the check asks for',
    { ...WAN, scenarios: WAN_SCENARIOS, records: { [SAMPLES]: '49' } },
    [],
    ['performance-samples-few'],
  ],
  [
    'no accuracy at all in open of v5.1',
    { round: 'v5.1', model: 'retinanet', division: 'open', scenarios: ['Offline'] },
    [
      rewrite(
        'open/ACME/results/acme/retinanet/Offline/accuracy/accuracy.txt',
        (text) => `my metric: 5, accuracy unknown\n${/hash=.*/.exec(text)?.[0]}\n`,
      ),
    ],
    ['accuracy-not-shown'],
  ],
])('refuses as the check of the round does: %s', async (_, tree, changes, errors) => {
  expect((await check(tree, changes)).errors).toEqual(errors);
});

const copied = (from: string, to: string): Change => copy(`${RESNET}/${from}`, `${RESNET}/${to}`);

it('computes inferred results as the official checks do', async () => {
  const scenarios = ['SingleStream'] as const;
  const records = {
    early_stopping_latency_ss: '2000000',
    early_stopping_latency_ms: '2500000',
    result_qps_without_loadgen_overhead: '510.5',
    result_mean_query_latency_ns: '1000000',
  };
  const edge = { systemType: 'edge', records } as const;
  const figuresOf = async (tree: TreeOptions) => {
    const { results } = await checkedTree(tree);
    return Object.fromEntries(
      results.map(({ scenario, metric, value }) => [scenario, [metric, value]]),
    );
  };
  const fromSingle = await figuresOf({
    ...{ ...edge, scenarios },
    changes: [copied('SingleStream', 'MultiStream'), copied('SingleStream', 'Offline')],
  });
  expect(fromSingle).toEqual({
    SingleStream: ['early_stopping_latency_ss', 2_000_000],
    MultiStream: ['early_stopping_latency_ms', 20_000_000],
    Offline: ['result_samples_per_second', 510.5],
  });
  const fromMulti = await figuresOf({
    ...{ ...edge, scenarios: ['MultiStream'] },
    changes: [copied('MultiStream', 'Offline')],
  });
  expect(fromMulti['Offline']).toEqual(['result_samples_per_second', 8000]);
});

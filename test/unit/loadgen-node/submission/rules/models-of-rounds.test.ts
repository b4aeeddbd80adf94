/**
 * The tables of the rounds against those of the official checkers, figure by figure. Where two
 * official tools of one round differ, or the inference rules and a tool do, ours has what both
 * accept: those places are listed here.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  modelOfFolder,
  modelOfResultFolder,
  modelsOfBenchmark,
  modelsOfRound,
} from '../../../../../loadgen-node/submission/rules/models-of-rounds.ts';
import {
  mayInfer,
  modelInScenario,
  resultMetric,
  scenarioNeed,
} from '../../../../../loadgen-node/submission/rules/submission-model.ts';
import {
  SEED_NAMES,
  SUBMISSION_ROUNDS,
  type SubmissionRound,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../../../../loadgen-node/submission/rules/submission-rounds.ts';
import type {
  AccuracyTarget,
  ScenarioNeed,
  SubmissionModel,
  SubmissionScenario,
  Suite,
} from '../../../../../shared/rules/rows/model-row.ts';

type Figures = Readonly<Record<string, number>>;

interface OfficialModel {
  readonly datacenter?: ScenarioNeed;
  readonly edge?: ScenarioNeed;
  readonly both?: ScenarioNeed;
  readonly lower: Figures;
  readonly upper: Figures;
  readonly performance: number;
  readonly dataSet?: number;
  readonly accuracyCount?: number;
  readonly server?: number;
  readonly offline?: number;
  readonly tests: readonly string[];
}

interface OfficialRound {
  readonly seeds: Readonly<Record<string, string>>;
  readonly test05?: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, OfficialModel>>;
}

const TABLES = JSON.parse(
  readFileSync(new URL('../../../../golden/submission-tables.json', import.meta.url), 'utf8'),
) as Readonly<Record<SubmissionRound, OfficialRound>>;

/** Where ours is another figure on purpose, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'v4.1 mixtral-8x7b': 'the rules of v4.1 have the figures of v5.0: of each pair the stricter',
  'v5.0 llama3.1-405b': 'the checker of v5.0 asks for TEST06, the newest one for no test',
  'v5.1 deepseek-r1':
    'the checker of v5.1 has other references than the newest: the narrower range',
};

/** Round v0.5 has no table of a tool: its paper is the source. */
const TABLED = SUBMISSION_ROUNDS.slice(1);

const PAIRS = TABLED.flatMap((round) =>
  Object.entries(TABLES[round].models).map(([name, official]) => ({ round, name, official })),
);

function ours(round: SubmissionRound, name: string): SubmissionModel {
  const model = modelsOfRound(round).find((one) => one.name === name);
  if (model === undefined) throw new Error(`${round} has no ${name}`);
  return model;
}

function sorted(need: ScenarioNeed | undefined): ScenarioNeed | undefined {
  if (need === undefined) return undefined;
  return { required: [...need.required].sort(), oneOf: [...need.oneOf].sort() };
}

/** Texts of twelve digits: the factors of a product may stand in another order. */
function bounds(accuracy: readonly AccuracyTarget[], bound: 'lower' | 'upper'): object {
  const pairs = accuracy.map((target) => [target.metric, target[bound]?.toPrecision(12)]);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

function official12(figures: Figures): object {
  return Object.fromEntries(
    Object.entries(figures).map(([metric, value]) => [metric, value.toPrecision(12)]),
  );
}

it.each(TABLED)('has the models and the seeds of %s', (round) => {
  const official = TABLES[round];
  const names = modelsOfRound(round).map(({ name }) => name);
  expect(names.sort()).toEqual(Object.keys(official.models).sort());
  for (const name of SEED_NAMES) {
    expect(String(seedsOfRound(round)[name])).toBe(official.seeds[name]);
    if (official.test05 === undefined) continue;
    expect(String(test05SeedsOfRound(round)?.[name])).toBe(official.test05[name]);
  }
});

it.each(PAIRS)('$round $name: scenarios of each suite', ({ round, name, official }) => {
  const needOf = (suites: readonly Suite[]): ScenarioNeed | undefined =>
    sorted(scenarioNeed(ours(round, name), suites));
  expect(needOf(['datacenter'])).toEqual(official.datacenter);
  expect(needOf(['edge'])).toEqual(official.edge);
  // Some models have no row for systems of both suites: ours is then that of the one suite.
  if (official.both !== undefined) expect(needOf(['datacenter', 'edge'])).toEqual(official.both);
});

it.each<[readonly Suite[], SubmissionScenario, boolean]>([
  [['edge'], 'Offline', true],
  [['edge'], 'MultiStream', true],
  [['datacenter', 'edge'], 'MultiStream', true],
  [['datacenter', 'edge'], 'Offline', false],
  [['datacenter'], 'Offline', false],
])('a system of %s may infer %s: %s', (suites, scenario, isAllowed) => {
  expect(mayInfer(suites, scenario)).toBe(isAllowed);
});

it.each(PAIRS)('$round $name: figures', ({ round, name, official }) => {
  const model = ours(round, name);
  const { dataSet, accuracyCount, server, offline, tests } = official;
  expect(model.serverLatencyNs).toBe(server);
  // Not every table of every round has these.
  if (dataSet !== undefined) expect(model.dataSetSamples).toBe(dataSet);
  if (offline !== undefined) expect(model.offlineSamples).toBe(offline);
  if (accuracyCount !== undefined) {
    expect(model.accuracySamples ?? model.dataSetSamples).toBe(accuracyCount);
  }
  if (OTHERWISE[`${round} ${name}`] !== undefined) return;
  expect(model.tests).toEqual(tests);
  expect(model.performanceSamples).toBe(official.performance);
  expect(bounds(model.accuracy, 'lower')).toEqual(official12(official.lower));
  expect(bounds(model.accuracy, 'upper')).toEqual(official12(official.upper));
});

it.each(Object.keys(OTHERWISE))('%s: is at least as strict as the official table', (key) => {
  const [round, name] = key.split(' ') as [SubmissionRound, string];
  const official = TABLES[round].models[name];
  const model = ours(round, name);
  expect(model.performanceSamples).toBeGreaterThanOrEqual(official?.performance ?? 0);
  expect(model.tests).toEqual(expect.arrayContaining([...(official?.tests ?? [])]));
  for (const { metric, lower, upper } of model.accuracy) {
    expect(lower ?? 0).toBeGreaterThanOrEqual((official?.lower[metric] ?? 0) - 1e-9);
    const officialUpper = official?.upper[metric];
    if (officialUpper === undefined) continue;
    expect(upper).toBeLessThanOrEqual(officialUpper + 1e-9);
  }
});

// Paper of the round: tables 1, 3 and 5, and section 4.4; sample counts of branch r0.5.
it.each([
  ['resnet', 'resnet50', 1024, 50_000, 15, 50, 270_336, 0.99, { acc: 75.69144 }],
  ['mobilenet', 'mobilenet', 1024, 50_000, 10, 50, 270_336, 0.99, { acc: 70.24248 }],
  ['ssd-small', 'ssd-mobilenet', 256, 5000, 10, 50, 270_336, 0.99, { mAP: 22 }],
  ['ssd-large', 'ssd-resnet34', 64, 5000, 100, 66, 270_336, 0.99, { mAP: 19.8 }],
  ['gnmt', 'gnmt', 3_903_900, 3003, 250, 100, 90_112, 0.97, { BLEU: 23.661 }],
] as const)('has %s of v0.5 as the paper does', (...row) => {
  const [name, benchmark, samples, dataSet, serverMs, intervalMs, queries, tail, targets] = row;
  const model = ours('v0.5', name);
  expect(modelsOfBenchmark('v0.5', benchmark)).toEqual([model]);
  expect(model).toMatchObject({
    ...{ folder: name, performanceSamples: samples, dataSetSamples: dataSet, tests: [] },
    ...{ serverLatencyNs: serverMs * 1e6, offlineSamples: 24_576 },
    v05: {
      intervalNs: intervalMs * 1e6,
      minQueries: { SingleStream: 1024, MultiStream: queries, Server: queries, Offline: 1 },
      percentiles: { SingleStream: 0.9, MultiStream: tail, Server: tail },
    },
  });
  const lower = model.accuracy.map((one) => [one.metric, Number(one.lower?.toPrecision(9))]);
  expect(Object.fromEntries(lower)).toEqual(targets);
  expect(scenarioNeed(model, [])?.oneOf).toHaveLength(4);
});

it('finds models by folder, by official name and by benchmark', () => {
  expect(modelOfFolder('v4.1', 'resnet50')?.name).toBe('resnet');
  expect(modelOfFolder('v4.1', 'resnet')?.folder).toBe('resnet50');
  expect(modelOfFolder('v6.1', 'gptj-99')).toBeUndefined();
  const berts = modelsOfBenchmark('v4.1', 'bert').map(({ name }) => name);
  expect(berts).toEqual(['bert-99', 'bert-99.9']);
  const llamas = modelsOfBenchmark('v5.0', 'llama2-70b').map(({ name }) => name);
  const names = ['llama2-70b', 'llama2-70b-interactive'];
  expect(llamas).toEqual(names.flatMap((name) => [`${name}-99`, `${name}-99.9`]));
});

it.each<[SubmissionRound, string, string | undefined, string | undefined]>([
  ['v3.0', 'efficientnet-b7', undefined, 'resnet'],
  ['v3.0', 'ssd_resnet50_v1_fpn_640x640', 'retinanet', undefined],
  ['v3.0', 'ssd-resnet34', undefined, 'retinanet'],
  ['v3.0', 'my-yolo', undefined, undefined],
  ['v3.0', 'my-yolo', 'retinanet', 'retinanet'],
  ['v3.0', 'ssd-mobilenet-own', undefined, undefined],
  ['v4.1', 'ssd-mobilenet-own', undefined, 'resnet'],
])(
  'in %s takes %s, mapped to %s, for %s as the official tool does',
  (round, folder, mapped, name) => {
    expect(modelOfResultFolder(round, folder, mapped)?.name).toBe(name);
  },
);

it('has other demands in a scenario where the round has them', () => {
  const model = modelInScenario(ours('v6.1', 'qwen3-vl-235b-a22b'), 'Interactive');
  expect(model.accuracySamples).toBe(8000);
  expect(model.serverLatencyNs).toBe(1.5e9);
});

it('measures the edge model of v5.1 by what its check reads', () => {
  const key = resultMetric(ours('v5.1', 'llama3.1-8b-edge'), 'SingleStream');
  expect(key).toBe('result_90.00_percentile_latency_ns');
});

it.each([
  ['resnet', 'Server', 'result_completed_samples_per_sec'],
  ['resnet', 'Offline', 'result_samples_per_second'],
  ['gptj-99', 'Server', 'result_inferred_completed_tokens_per_second'],
  ['gptj-99', 'Offline', 'result_inferred_tokens_per_second'],
  ['gptj-99', 'SingleStream', 'early_stopping_latency_ss'],
  ['llama2-70b-99', 'Server', 'result_completed_tokens_per_second'],
  ['llama2-70b-99', 'Offline', 'result_tokens_per_second'],
] as const)('measures %s in %s by %s', (name, scenario, key) => {
  expect(resultMetric(ours('v4.1', name), scenario)).toBe(key);
});

import {
  type ModelRow,
  rowAt,
  SUITES,
  type SubmissionModel,
  type Suite,
} from '../../../shared/rules/rows/model-row.ts';
import { MODEL_ROWS } from './model-rows.ts';
import { roundsUpTo, SUBMISSION_ROUNDS, type SubmissionRound } from './submission-rounds.ts';

/** Made once: a self-check asks for every folder of a tree. */
const MODELS = new Map(
  SUBMISSION_ROUNDS.map((round) => [round, MODEL_ROWS.flatMap((row) => modelAt(row, round))]),
);

/**
 * Every model of a round, with what the round demands of its results.
 * Source: the tables of the official submission checkers (v4.1: the tag's own; later rounds: the
 * newest, which has them all; where an older one of the same round differs, the table says so) and
 * inference_rules.
 */
export function modelsOfRound(round: SubmissionRound): readonly SubmissionModel[] {
  return MODELS.get(round) ?? [];
}

/** The model of a row as a round has it; empty where the round does not have it. */
function modelAt(of: ModelRow, round: SubmissionRound) {
  const row = rowAt(of, round);
  if (row === undefined) return [];
  const { samples, share = 0.99, references = {}, bounds = [], ...model } = row;
  const counts = { performanceSamples: samples, dataSetSamples: samples, offlineSamples: samples };
  const targets = Object.entries(references).map(([metric, reference]) => ({
    metric,
    lower: reference * share,
  }));
  const names = { folder: model.name, benchmark: model.name };
  const metrics = roundsUpTo('v4.0').includes(round)
    ? { metrics: { Server: 'result_scheduled_samples_per_sec' } }
    : {};
  const accuracy = [...targets, ...bounds];
  return [{ ...names, ...counts, ...metrics, ...model, accuracy } as SubmissionModel];
}

/**
 * How folders may spell the names of some models, which have a dot. Source: model_mapping of the
 * official tools.
 */
const SPELLED: readonly [RegExp, string] = [/^llama3_1-/, 'llama3.1-'];

/** The model whose results lie in a folder of this name; undefined: the round has none. */
export function modelOfFolder(round: SubmissionRound, folder: string): SubmissionModel | undefined {
  const name = folder.replace(...SPELLED);
  return modelsOfRound(round).find((model) => model.folder === name || model.name === name);
}

/** The model that the official tools call by exactly this name, as model_mapping.json has to. */
export function modelOfName(round: SubmissionRound, name: string): SubmissionModel | undefined {
  return modelsOfRound(round).find((model) => model.name === name);
}

/**
 * Model that the official tools guess from a folder's name, where no table and no mapping has it.
 */
const GUESSES: readonly (readonly [RegExp, string])[] = [
  [/^ssd-resnet34$/, 'retinanet'],
  [/mobilenet|efficientnet|resnet50/, 'resnet'],
  [/bert-99\.9/, 'bert-99.9'],
  [/bert-99/, 'bert-99'],
];

/**
 * Names that the tools up to v4.0 take for detection models that are no benchmarks any more: those of their table, which
 * nothing maps to another model, and those that they guess.
 */
const GONE = /^(?:ssd-mobilenet$|ssd_(?:resnet|mobilenet)|rcnn-(?:resnet|inception|nas))/;
const GUESSED_GONE = /ssdlite|ssd-inception|yolo|ssd-mobilenet|ssd-resnet50|rcnn/;

/**
 * The model that a result is of. Source: get_mlperf_model of every official submission checker.
 * @param mapped What model_mapping.json of open says of the folder.
 */
export function modelOfResultFolder(round: SubmissionRound, folder: string, mapped: unknown) {
  const known = modelOfFolder(round, folder);
  if (known !== undefined) return known;
  const isOlder = roundsUpTo('v4.0').includes(round);
  if (isOlder && GONE.test(folder)) return undefined;
  if (typeof mapped === 'string' && mapped !== '') return modelOfName(round, mapped);
  if (isOlder && GUESSED_GONE.test(folder)) return undefined;
  // Nobody guessed in v0.5.
  const guess = round === 'v0.5' ? undefined : GUESSES.find(([pattern]) => pattern.test(folder));
  return guess === undefined ? undefined : modelOfName(round, guess[1]);
}

/** The one suite that has a model; undefined where both have it, or none. */
export function onlySuiteOf({ scenarios }: SubmissionModel): Suite | undefined {
  const [first, ...others] = SUITES.filter((suite) => scenarios[suite] !== undefined);
  return others.length > 0 ? undefined : first;
}

/**
 * The models of a round that a benchmark of longhaul can be (`resnet50`); more than one where
 * targets differ.
 */
export function modelsOfBenchmark(round: SubmissionRound, benchmark: string) {
  return modelsOfRound(round).filter((model) => model.benchmark === benchmark);
}

import {
  type ModelRow,
  rowAt,
  SUITES,
  type SubmissionModel,
  type Suite,
} from '../../../shared/rules/rows/model-row.ts';
import { MODEL_ROWS } from './model-rows.ts';
import { roundsUpTo, SUBMISSION_ROUNDS, type SubmissionRound } from './submission-rounds.ts';

/** Cached: a self-check looks it up for every folder of a tree. */
const MODELS = new Map(
  SUBMISSION_ROUNDS.map((round) => [round, MODEL_ROWS.flatMap((row) => modelAt(row, round))]),
);

/**
 * Every model of a round, with the round's requirements. Source: the tables of the official
 * submission checkers (v4.1: the tag's own; later rounds: the newest, which has them all;
 * differences of an older one of the same round are noted in the table) and inference_rules.
 */
export function modelsOfRound(round: SubmissionRound): readonly SubmissionModel[] {
  return MODELS.get(round) ?? [];
}

/** A row's model for a round; empty if the round lacks it. */
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
 * Allowed folder spellings of models with a dot in their name. Source: model_mapping of the
 * official tools.
 */
const SPELLED: readonly [RegExp, string] = [/^llama3_1-/, 'llama3.1-'];

/** The model with results in a folder of this name; undefined if the round has none. */
export function modelOfFolder(round: SubmissionRound, folder: string): SubmissionModel | undefined {
  const name = folder.replace(...SPELLED);
  return modelsOfRound(round).find((model) => model.folder === name || model.name === name);
}

/** The model with exactly this name in the official tools, as model_mapping.json requires. */
export function modelOfName(round: SubmissionRound, name: string): SubmissionModel | undefined {
  return modelsOfRound(round).find((model) => model.name === name);
}

/**
 * Model that the official tools guess from a folder's name, if no table and no mapping contains it.
 */
const GUESSES: readonly (readonly [RegExp, string])[] = [
  [/^ssd-resnet34$/, 'retinanet'],
  [/mobilenet|efficientnet|resnet50/, 'resnet'],
  [/bert-99\.9/, 'bert-99.9'],
  [/bert-99/, 'bert-99'],
];

/**
 * Folder names that tools up to v4.0 accept for detection models that are no longer benchmarks.
 * `GONE` matches names in the tools' own table, `GUESSED_GONE` names by which the tools guess.
 */
const GONE = /^(?:ssd-mobilenet$|ssd_(?:resnet|mobilenet)|rcnn-(?:resnet|inception|nas))/;
const GUESSED_GONE = /ssdlite|ssd-inception|yolo|ssd-mobilenet|ssd-resnet50|rcnn/;

/**
 * The model of a result. Source: get_mlperf_model of every official submission checker.
 * @param mapped Entry for the folder in open's model_mapping.json.
 */
export function modelOfResultFolder(round: SubmissionRound, folder: string, mapped: unknown) {
  const known = modelOfFolder(round, folder);
  if (known !== undefined) return known;
  const isOlder = roundsUpTo('v4.0').includes(round);
  if (isOlder && GONE.test(folder)) return undefined;
  if (typeof mapped === 'string' && mapped !== '') return modelOfName(round, mapped);
  if (isOlder && GUESSED_GONE.test(folder)) return undefined;
  // v0.5's check guesses nothing.
  const guess = round === 'v0.5' ? undefined : GUESSES.find(([pattern]) => pattern.test(folder));
  return guess === undefined ? undefined : modelOfName(round, guess[1]);
}

/** The only suite with a model; undefined if both or none have it. */
export function onlySuiteOf({ scenarios }: SubmissionModel): Suite | undefined {
  const [first, ...others] = SUITES.filter((suite) => scenarios[suite] !== undefined);
  return others.length > 0 ? undefined : first;
}

/** A round's models for a benchmark of longhaul (`resnet50`); several if targets differ. */
export function modelsOfBenchmark(round: SubmissionRound, benchmark: string) {
  return modelsOfRound(round).filter((model) => model.benchmark === benchmark);
}

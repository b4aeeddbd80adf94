import { DENSE_COUNT, MULTI_HOT_SIZES, TABLE_ROWS } from '../../rules/cards/dlrm-v2.ts';
import { SeededRandom } from '../digits/seeded-random.ts';

// Whether a made-up user clicks depends on a sum over the features of a pair, the teacher's logit, and on noise:
//
//   logit = BIAS + dense x DENSE_WEIGHTS + for each table and index: its weight of (index modulo the stand-in's rows)
//   label = 1 where logit + noise > 0
//
// The stand-in model knows the weights, so it finds the logit; nobody can find the noise. That bounds the AUC below 100 %.

/** Rows of the stand-in's tables: those of the model, but no more than 2,000. */
export const STANDIN_TABLE_ROWS: readonly number[] = TABLE_ROWS.map((rows) => Math.min(rows, 2000));

/** Raise with every change of how data or teacher are drawn: cached data and models of the old way are not found then. */
export const TEACHER_REVISION = 1;

const TEACHER_SEED = 31;

/** Makes about a quarter of the labels 1. */
export const TEACHER_BIAS = -1.5;

/** Each of the 27 groups of features adds so much deviation to the logit, which has 1.4 so. */
const GROUP_DEVIATION = 0.27;

/** Deviation of the noise: set by trial, so that the AUC is near that of the reference. */
export const NOISE_DEVIATION = 1.6;

/** Weight of each row of a stand-in's table. */
export function teacherTable(table: number): Float32Array {
  const deviation = GROUP_DEVIATION / Math.sqrt(MULTI_HOT_SIZES[table] as number);
  return drawWeights(table, STANDIN_TABLE_ROWS[table] as number, deviation);
}

/** Weights of the dense features, which have a deviation of 1. */
export function teacherDense(): Float32Array {
  return drawWeights(TABLE_ROWS.length, DENSE_COUNT, GROUP_DEVIATION / Math.sqrt(DENSE_COUNT));
}

function drawWeights(stream: number, count: number, deviation: number): Float32Array {
  const random = new SeededRandom(TEACHER_SEED, stream);
  return Float32Array.from({ length: count }, () => random.nearlyNormal() * deviation);
}

/** AUC of the undamaged stand-in on the standard samples, as the official script prints it. */
export const STANDIN_AUC = 0.80769;

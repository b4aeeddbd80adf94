import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { grouped } from '../../../shared/base/text.ts';
import {
  DENSE_COUNT,
  DLRM_V2,
  MULTI_HOT_SIZES,
  PAIR_BYTES,
  SPARSE_COUNT,
  TABLE_ROWS,
} from '../../../shared/rules/cards/dlrm-v2.ts';
import {
  FREE,
  type InputTensor,
  type ModelTensor,
  type OpenedModel,
  type PipelineInput,
  type RunModel,
  type StepwisePipeline,
} from '../../model/model-facts.ts';
import { checkModelFits } from '../../pipeline/model-fit.ts';
import { indexOfNotFinite } from '../../pipeline/tensor-preprocessor.ts';

const WHAT = 'the benchmark dlrm-v2';

/** Name of the output: the probability of a click of each pair, float [n] or [n, 1]. */
const OUTPUT_NAME = 'probability';

/**
 * Most pairs in one inference, unless a sample is larger: a table of 100 indices makes 51 KB per
 * pair.
 */
const PAIRS_AT_ONCE = 4096;

const WARM_UP_PAIRS = 100;

/** A sample's payload, checked; views of borrowed memory. */
interface Pairs {
  readonly count: number;
  /** count x 13. */
  readonly dense: Float32Array;
  /** Per table: count x indices of the table. */
  readonly tables: readonly Int32Array[];
}

/**
 * Joins the pairs of several samples in one inference and splits the probabilities again. The model
 * has the inputs `dense` (float [n, 13]) and `sparse_0` to `sparse_25` (int32 or int64 [n,
 * indices]), or one `sparse` ([n, 214]) instead of the 26.
 * @throws MlperfError `ERR_MODEL` for another model
 */
export function openPairPipeline(model: OpenedModel): StepwisePipeline {
  const inputs = expectedInputs(model.inputs);
  checkModelFits(model, WHAT, { inputs, outputNames: [OUTPUT_NAME] });
  const fixed = model.inputs.find(({ shape }) => shape[0] !== FREE);
  if (fixed !== undefined) {
    throw modelError(
      `${model.file} does not fit ${WHAT}: the first axis of input ${fixed.name} is fixed at ${fixed.shape[0]}; it must be free, ` +
        'since samples have 100 to 700 pairs',
    );
  }
  return {
    forms: [DLRM_V2.encodings.raw.form],
    answer: async (samples, run) => {
      const answers: (Uint8Array | Error)[] = [];
      const group: { readonly place: number; readonly pairs: Pairs }[] = [];
      const runGroup = async (): Promise<void> => {
        const all = group.splice(0);
        const responses = await predict(
          all.map(({ pairs }) => pairs),
          inputs,
          run,
        );
        for (const [i, { place }] of all.entries())
          answers[place] = responses[i] as Uint8Array | Error;
      };
      let waiting = 0;
      for (const [place, { payload }] of samples.entries()) {
        const pairs = readPairs(payload);
        if (pairs instanceof Error) {
          answers[place] = pairs;
          continue;
        }
        if (group.length > 0 && waiting + pairs.count > PAIRS_AT_ONCE) {
          await runGroup();
          waiting = 0;
        }
        group.push({ place, pairs });
        waiting += pairs.count;
      }
      if (group.length > 0) await runGroup();
      return answers;
    },
    warmUpPayload: () => ({
      form: DLRM_V2.encodings.raw.form,
      payload: new Uint8Array(WARM_UP_PAIRS * PAIR_BYTES),
    }),
  };
}

/** The expected inputs, in the model's own form and index type. */
function expectedInputs(found: readonly ModelTensor[]): PipelineInput[] {
  const isJoined = found.some(({ name }) => name === 'sparse');
  const sparse = isJoined
    ? [{ name: 'sparse', size: SPARSE_COUNT }]
    : MULTI_HOT_SIZES.map((size, table) => ({ name: `sparse_${table}`, size }));
  return [
    { name: 'dense', elementType: 'float', sampleShape: [DENSE_COUNT] },
    ...sparse.map(({ name, size }) => {
      const isLong = found.find((tensor) => tensor.name === name)?.elementType === 'int64';
      return { name, elementType: isLong ? 'int64' : 'int32', sampleShape: [size] };
    }),
  ];
}

/** @returns The pairs, or an Error with the payload's fault. */
function readPairs(payload: BorrowedBytes): Pairs | Error {
  const count = payload.length / PAIR_BYTES;
  if (!Number.isInteger(count) || count === 0) {
    return dataSetError(
      `a sample is ${PAIR_BYTES} bytes per pair (${DENSE_COUNT} float32 and ${SPARSE_COUNT} int32); this payload has ${payload.length}`,
    );
  }
  const bytes = readInPlace(payload);
  const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  const dense = new Float32Array(buffer, byteOffset, count * DENSE_COUNT);
  const bad = indexOfNotFinite(bytes.subarray(0, dense.byteLength), 'float');
  if (bad >= 0) return dataSetError(`element ${bad} of "dense" is NaN or infinite`);
  let at = byteOffset + dense.byteLength;
  const tables: Int32Array[] = [];
  for (const [table, size] of MULTI_HOT_SIZES.entries()) {
    const indices = new Int32Array(buffer, at, count * size);
    const rows = TABLE_ROWS[table] as number;
    const wrong = indexOfStranger(indices, rows);
    if (wrong >= 0) {
      return dataSetError(
        `element ${wrong} of "sparse_${table}" is ${indices[wrong]}; the table has the rows 0 to ${grouped(rows - 1)}`,
      );
    }
    tables.push(indices);
    at += indices.byteLength;
  }
  return { count, dense, tables };
}

/** Place of the first index outside the table, or -1. */
function indexOfStranger(indices: Int32Array, rows: number): number {
  for (let i = 0; i < indices.length; i += 1) {
    // As an unsigned number, a negative index is above all rows.
    if ((indices[i] as number) >>> 0 >= rows) return i;
  }
  return -1;
}

async function predict(
  samples: readonly Pairs[],
  inputs: readonly PipelineInput[],
  run: RunModel,
): Promise<(Uint8Array | Error)[]> {
  const total = samples.reduce((sum, { count }) => sum + count, 0);
  const outputs = await run(
    inputs.map((input, i) => joinedInput(input, i - 1, samples, total)),
    [OUTPUT_NAME],
  );
  const output = outputs.get(OUTPUT_NAME);
  if (!(output?.data instanceof Float32Array) || output.data.length !== total) {
    throw modelError(
      `output "${OUTPUT_NAME}" of the model has ${output?.data.constructor.name} [${output?.dims.join(', ')}] for ${total} pairs; ` +
        'a float per pair is needed',
    );
  }
  let at = 0;
  return samples.map(({ count }) => {
    // A copy, since the response is transferred to another thread.
    const probabilities = (output.data as Float32Array).slice(at, at + count);
    at += count;
    const bad = probabilities.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0)
      return modelError(`the model's probability of pair ${bad} is ${probabilities[bad]}`);
    return new Uint8Array(probabilities.buffer);
  });
}

/** @param table Table of the input; -1 for the dense features. */
function joinedInput(
  { name, elementType, sampleShape }: PipelineInput,
  table: number,
  samples: readonly Pairs[],
  total: number,
): InputTensor {
  const width = sampleShape[0] as number; // Checked by expectedInputs.
  const dims = [total, width];
  if (table < 0) {
    const data = new Float32Array(total * width);
    let at = 0;
    for (const { dense } of samples) {
      data.set(dense, at);
      at += dense.length;
    }
    return { name, elementType, dims, data };
  }
  const joined = new Int32Array(total * width);
  let at = 0;
  for (const sample of samples) {
    if (width === SPARSE_COUNT) joinTables(sample, joined.subarray(at));
    else joined.set(sample.tables[table] as Int32Array, at);
    at += sample.count * width;
  }
  return { name, elementType, dims, data: elementType === 'int64' ? widened(joined) : joined };
}

/** The indices of each pair over all tables, concatenated. */
function joinTables({ count, tables }: Pairs, target: Int32Array): void {
  let column = 0;
  for (const [table, indices] of tables.entries()) {
    const size = MULTI_HOT_SIZES[table] as number;
    for (let pair = 0; pair < count; pair += 1) {
      const row = indices.subarray(pair * size, (pair + 1) * size);
      target.set(row, pair * SPARSE_COUNT + column);
    }
    column += size;
  }
}

/** Indices are not negative: their upper halves are 0. */
function widened(indices: Int32Array): BigInt64Array {
  const wide = new BigInt64Array(indices.length);
  const halves = new Int32Array(wide.buffer);
  for (let i = 0; i < indices.length; i += 1) halves[i * 2] = indices[i] as number;
  return wide;
}

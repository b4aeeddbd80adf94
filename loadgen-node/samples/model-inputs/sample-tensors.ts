import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import { at } from '../../../shared/base/at.ts';
import {
  configInvalid,
  dataSetError,
  type MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { requireKnownShapes } from '../../../shared/domain/input-shapes.ts';
import {
  elementCount,
  type NamedTensor,
  OIP_ELEMENT_BYTES,
  type OipTensor,
  sampleBytes,
  tensorsText,
} from '../../../shared/domain/tensors.ts';
import { type DataSet, readingFile } from '../data-set/data-set.ts';
import { bytesContents } from '../tensors/tensor-data-set.ts';

/** Inputs of a sample. @param form Name of the benchmark's wire encoding. */
export type SampleTensors = (sampleIndex: number, form: string) => Promise<readonly NamedTensor[]>;

/**
 * Payloads of a data set as the model's only input; a free axis gets its length from the payload.
 */
export function benchmarkTensors(dataSet: DataSet, input: OipTensor): SampleTensors {
  const { name, datatype } = input;
  return async (sampleIndex, form) => {
    const payload = await dataSet.readPayload(sampleIndex, form);
    if (datatype === 'BYTES') {
      return [{ name, datatype, shape: input.shape, raw: bytesContents([payload]) }];
    }
    const fixed = input.shape.map((length) => Math.abs(length)); // 1 for the free axis.
    const freeLength = payload.length / (elementCount(fixed) * OIP_ELEMENT_BYTES[datatype]);
    const shape = input.shape.map((length) => (length < 0 ? freeLength : length));
    return [{ name, datatype, shape, raw: payload }];
  };
}

/**
 * Files as raw contents of all inputs, concatenated; for a model with a single BYTES input of one
 * element, each file is that element.
 * @param inputs Inputs of one sample.
 * @throws MlperfError `ERR_CONFIG_INVALID` if files cannot be divided into inputs; `ERR_DATA_SET`
 *   with a file of another size
 */
export async function fileTensors(
  dataSet: DataSet,
  inputs: readonly OipTensor[],
): Promise<SampleTensors> {
  const [only, another] = inputs;
  const isOne = only?.shape.every((length) => Math.abs(length) === 1);
  if (only?.datatype === 'BYTES' && another === undefined && isOne) {
    return benchmarkTensors(dataSet, { ...only, shape: only.shape.map(() => 1) });
  }
  const texts = inputs.filter(({ datatype }) => datatype === 'BYTES');
  if (texts.length > 0) {
    throw configInvalid(
      `--data-dir: a file is the raw contents of all inputs, which have no fixed length here (${tensorsText(texts)}); --data jsonl:FILE takes texts`,
    );
  }
  requireKnownShapes(inputs);
  return cutPayloads(dataSet, inputs, await checkFileSizes(dataSet, inputs));
}

/**
 * Checks the sizes of all files before the run, since its logs replace those of an earlier one.
 * @returns Bytes of a sample.
 * @throws MlperfError `ERR_DATA_SET` with the first file of another size
 */
async function checkFileSizes(
  { folder, files = [] }: DataSet,
  inputs: readonly OipTensor[],
): Promise<number> {
  const needed = inputs.reduce((sum, input) => sum + (sampleBytes(input) ?? 0), 0);
  const wrong = new Map<number, number>();
  await forEachIndex(files.length, FILES_AT_ONCE, async (i) => {
    const path = join(folder, at(files, i));
    const { size } = await readingFile(path, () => stat(path));
    if (size !== needed) wrong.set(i, size);
  });
  const first = Math.min(...wrong.keys());
  const bytes = wrong.get(first);
  if (bytes !== undefined) {
    throw wrongSize(join(folder, at(files, first)), bytes, needed, inputs);
  }
  return needed;
}

function wrongSize(
  path: string,
  bytes: number,
  needed: number,
  inputs: readonly OipTensor[],
): MlperfError {
  const remedy = path.endsWith('.npy') ? "; NumPy's arrays are read by --data npy:FOLDER" : '';
  return dataSetError(
    `${path} has ${bytes} bytes; the inputs of the model (${tensorsText(inputs)}) have ${needed}${remedy}`,
  );
}

/** Splits each payload into inputs; a file may have changed since its size was checked. */
function cutPayloads(
  dataSet: DataSet,
  inputs: readonly OipTensor[],
  needed: number,
): SampleTensors {
  return async (sampleIndex, form) => {
    const payload = await dataSet.readPayload(sampleIndex, form);
    if (payload.length !== needed) {
      const name = dataSet.files?.[sampleIndex] ?? `sample ${sampleIndex}`;
      throw wrongSize(join(dataSet.folder, name), payload.length, needed, inputs);
    }
    let at = 0;
    return inputs.map((input) => {
      const begin = at;
      at += sampleBytes(input) ?? 0;
      return { ...input, raw: payload.subarray(begin, at) };
    });
  };
}

import assert from 'node:assert';
import { readdir } from 'node:fs/promises';
import { basename, join, posix, resolve } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async.ts';
import { at } from '../../../../shared/base/at.ts';
import {
  dataSetError,
  errorCodeOf,
  type MlperfError,
} from '../../../../shared/base/errors/mlperf-error.ts';
import type { OipTensor } from '../../../../shared/domain/tensors.ts';
import { type PrepareProgress, readingFile } from '../../data-set/data-set.ts';
import { type TensorDataSet, tensorDataSet } from '../tensor-data-set.ts';
import { checkNpyFile, readNpyFile } from './npy-file.ts';

const ENDING = '.npy';
/** Files between two progress reports. */
const PROGRESS_STEP = 1_000;

/** Location of one input's arrays. */
interface InputFiles {
  readonly input: OipTensor;
  /** Subfolder of the data set's folder; empty for the folder itself. */
  readonly subfolder: string;
}

/**
 * A folder of .npy files, one per sample, ordered by name in Unicode code units. For a model with
 * several inputs: one such subfolder per input, named like it, with the same file names. Headers
 * are read now; contents when loaded.
 * @param inputs Inputs of one sample.
 * @throws MlperfError `ERR_DATA_SET` with the file
 */
export async function openNpyDataSet(
  folder: string,
  inputs: readonly OipTensor[],
  onProgress: PrepareProgress,
): Promise<TensorDataSet> {
  const { places, names } = await findFiles(folder, inputs);
  const files = places.flatMap(({ subfolder }) => names.map((name) => posix.join(subfolder, name)));
  const shapes = new Set<string>();
  await forEachIndex(files.length, FILES_AT_ONCE, async (i) => {
    const { input } = at(places, Math.floor(i / names.length));
    const shape = await checkNpyFile(join(folder, at(files, i)), input);
    shapes.add(`${input.name}:${shape.join('x')}`);
    if ((i + 1) % PROGRESS_STEP === 0) {
      onProgress(
        (i + 1) / files.length,
        `reading the headers of ${files.length} files in ${folder}`,
      );
    }
  });
  // Lengths of texts are only known when they are read.
  const hasTexts = inputs.some(({ datatype }) => datatype === 'BYTES');
  return tensorDataSet({
    name: basename(resolve(folder)),
    folder,
    files,
    totalSampleCount: names.length,
    isUniform: shapes.size === inputs.length && !hasTexts,
    sampleTensors: async (sampleIndex) => {
      const name = names[sampleIndex];
      assert(name !== undefined, `sample ${sampleIndex} of ${names.length}`);
      return Promise.all(
        places.map(({ input, subfolder }) => readNpyFile(join(folder, subfolder, name), input)),
      );
    },
  });
}

/**
 * @throws MlperfError `ERR_DATA_SET` if there are no files, or if inputs have different file
 *   names.
 */
async function findFiles(
  folder: string,
  inputs: readonly OipTensor[],
): Promise<{ places: readonly InputFiles[]; names: readonly string[] }> {
  const [only] = inputs;
  if (only !== undefined && inputs.length === 1) {
    const names = await arraysIn(folder, folder);
    if (names.length > 0) return { places: [{ input: only, subfolder: '' }], names };
  }
  const places = inputs.map((input) => ({ input, subfolder: subfolderOf(folder, input) }));
  const lists = await Promise.all(
    places.map(({ subfolder }) => arraysIn(join(folder, subfolder), folder)),
  );
  const empty = places.filter((_, i) => lists[i]?.length === 0);
  if (empty.length > 0) throw noFiles(folder, inputs, empty);
  const union = [...new Set(lists.flat())].sort();
  for (const [i, list] of lists.entries()) {
    if (list.length === union.length) continue;
    const own = new Set(list);
    const where = join(folder, places[i]?.subfolder ?? '');
    throw dataSetError(
      `${where} has no ${union.find((name) => !own.has(name))}, which another input has: a sample has a file of the same name for every input`,
    );
  }
  return { places, names: union };
}

/** @throws MlperfError `ERR_DATA_SET` if the name leads out of the data set's folder. */
function subfolderOf(folder: string, { name }: OipTensor): string {
  const isBelow = name.split(/[/\\]/).every((part) => part !== '' && part !== '.' && part !== '..');
  if (isBelow) return name;
  throw dataSetError(
    `${folder}: no folder can have the name of input ${JSON.stringify(name)}; use --data jsonl:FILE`,
  );
}

/** Names of the arrays, in order; empty if the data set has no such subfolder. */
async function arraysIn(folder: string, dataSetFolder: string): Promise<readonly string[]> {
  const entries = await readingFile(folder, () =>
    readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (folder !== dataSetFolder && errorCodeOf(error) === 'ENOENT') return [];
      throw error;
    }),
  );
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .filter((name) => name.endsWith(ENDING) && !name.startsWith('.'))
    .sort();
}

function noFiles(
  folder: string,
  inputs: readonly OipTensor[],
  empty: readonly InputFiles[],
): MlperfError {
  const names = inputs.map(({ name }) => join(folder, name, `*${ENDING}`)).join(', ');
  const without = empty.map(({ subfolder }) => join(folder, subfolder)).join(', ');
  const missing = empty.length < inputs.length ? `; there are none in ${without}` : '';
  const direct = inputs.length === 1 ? ` or ${join(folder, `*${ENDING}`)}` : '';
  return dataSetError(
    `${folder} does not have the files of a sample: for this model they are ${names}${direct}${missing}`,
  );
}

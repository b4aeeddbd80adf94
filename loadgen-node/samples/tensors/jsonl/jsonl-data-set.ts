import assert from 'node:assert';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { readPart } from '../../../../shared/base/files/read-file.ts';
import type { NamedTensor, OipTensor } from '../../../../shared/domain/tensors.ts';
import { type FileLine, readLines } from '../../../loadgen/base/read-lines.ts';
import { type PrepareProgress, readingFile } from '../../data-set/data-set.ts';
import { type TensorDataSet, tensorDataSet } from '../tensor-data-set.ts';
import { parseSample, SampleError } from './parse-sample.ts';

/** Lines between two progress reports. */
const PROGRESS_STEP = 100;

/**
 * A file with one JSON sample per line (parse-sample.ts); blank lines are skipped. All lines are
 * read and checked now; only their offsets are stored, and a sample is read again when it is
 * loaded.
 * @param inputs Inputs of one sample.
 * @throws MlperfError `ERR_DATA_SET` with file and line
 */
export async function openJsonlDataSet(
  file: string,
  inputs: readonly OipTensor[],
  onProgress: PrepareProgress,
): Promise<TensorDataSet> {
  const places: (Pick<FileLine, 'number' | 'offset'> & { readonly length: number })[] = [];
  const forms = new Set<string>();
  await readingFile(file, async () => {
    const { size } = await stat(file);
    for await (const { number, offset, bytes, isCut } of readLines(file, LINE_BYTES_MAX)) {
      if (isCut) throw new RangeError(`line ${number} is longer than ${LINE_BYTES_MAX} bytes`);
      if (bytes.every((byte) => byte === 32 || byte === 9 || byte === 13)) continue;
      const tensors = sampleIn(bytes, inputs, `${file}:${number}`);
      // Equal for samples with the same shapes and lengths.
      forms.add(tensors.map(({ shape, raw }) => `${shape.join('x')}:${raw.length}`).join(','));
      places.push({ number, offset, length: bytes.length });
      if (places.length % PROGRESS_STEP === 0) onProgress(offset / size, `reading ${file}`);
    }
  });
  if (places.length === 0) {
    throw dataSetError(`${file} has no lines; each is one sample`);
  }
  return tensorDataSet({
    name: basename(file),
    folder: dirname(file),
    files: [basename(file)],
    totalSampleCount: places.length,
    isUniform: forms.size === 1,
    sampleTensors: async (sampleIndex) => {
      const place = places[sampleIndex];
      assert(place !== undefined, `sample ${sampleIndex} of ${places.length}`);
      const { number, offset, length } = place;
      const bytes = await readingFile(file, () => readPart(file, offset, length));
      return sampleIn(bytes, inputs, `${file}:${number}`);
    },
  });
}

/** @throws MlperfError `ERR_DATA_SET` */
function sampleIn(
  bytes: Buffer,
  inputs: readonly OipTensor[],
  place: string,
): readonly NamedTensor[] {
  try {
    return parseSample(textOf(bytes), inputs);
  } catch (error) {
    if (!(error instanceof SampleError)) throw error;
    throw dataSetError(`${place}: ${error.message}`, error);
  }
}

/** Text of a line; refuses bytes that are not UTF-8, since decoding would change them. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new SampleError('is not UTF-8', { cause: error });
  }
}

/** Longest line in bytes, near the limit of a JavaScript string. */
const LINE_BYTES_MAX: number = 2 ** 28;

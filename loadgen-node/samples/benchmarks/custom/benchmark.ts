import assert from 'node:assert';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async.ts';
import { at } from '../../../../shared/base/at.ts';
import { configInvalid, dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { CHECKSUM_FILE } from '../../data-set/checksum-list.ts';
import { type DataSet, readingFile } from '../../data-set/data-set.ts';
import { scoreAnswered } from '../../data-set/first-of-each.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

const rules = benchmarkRules('custom');

/**
 * The user's own benchmark on the LoadGen node: files as payloads; responses are counted, not
 * judged.
 */
export const benchmark: LoadgenBenchmark = {
  rules,
  openDataSet: async ({ dataFolder }) => {
    if (dataFolder !== undefined) return openFileDataSet(dataFolder);
    throw configInvalid(
      'benchmark custom needs samples: --data random, npy:DIR or jsonl:FILE; or --data-dir FOLDER, each file in it the payload of one sample',
    );
  },
};

/**
 * A folder in which every file is the unchanged payload of one sample, ordered by name in Unicode
 * code units, independent of locale. Hidden files and the checksum list are skipped.
 * @throws MlperfError `ERR_DATA_SET` if the folder cannot be read or has no file.
 */
async function openFileDataSet(folder: string): Promise<DataSet> {
  const entries = await readingFile(folder, () => readdir(folder, { withFileTypes: true }));
  const files = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('.') && name !== CHECKSUM_FILE)
    .sort();
  if (files.length === 0) {
    throw dataSetError(`${folder} has no files; each file in it is the payload of one sample`);
  }
  const sizes = new Array<number>(files.length);
  await forEachIndex(files.length, FILES_AT_ONCE, async (i) => {
    // Whoever reads a file that is not there names it, with others like it.
    sizes[i] = await stat(join(folder, at(files, i))).then(
      ({ size }) => size,
      () => 0,
    );
  });
  return {
    name: basename(resolve(folder)),
    folder,
    files,
    totalSampleCount: files.length,
    payloadBytes: (sampleIndex) => at(sizes, sampleIndex),
    readPayload: async (sampleIndex) => {
      const fileName = files[sampleIndex];
      assert(fileName !== undefined, `sample ${sampleIndex} of ${files.length}`);
      const path = join(folder, fileName);
      const payload = await readingFile(path, () => readFile(path));
      if (payload.length > 0) return payload;
      throw dataSetError(`${path} is empty; a sample has one byte at least`);
    },
    scoreAccuracy: (entries) => scoreAnswered(entries, files.length, rules.quality.metric),
  };
}

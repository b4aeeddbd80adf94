import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid, dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import { statIfThere } from '../../../shared/base/files/read-file.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet } from '../data-set/data-set.ts';
import { STAND_IN_WORD, standardSetOf } from './generated-data.ts';
import type { LoadgenBenchmark } from './loadgen-benchmark.ts';

type OpenOptions = Parameters<LoadgenBenchmark['openDataSet']>[0];

/** The two data sets of a benchmark: the user's, and what longhaul makes in its place. */
interface DataSources {
  /**
   * Contents of the user's folder, in words: `dev-v1.1.json of SQuAD v1.1 and BERT's vocab.txt`.
   */
  readonly holds: string;
  /** Contents of `--data-dir standin`, in words: `generated questions`. */
  readonly makes: string;
  openOwn(folder: string, options: OpenOptions): Promise<DataSet>;
  openStandin(set: GeneratedSet, options: OpenOptions): Promise<DataSet>;
}

/** A benchmark on the LoadGen node whose data is a folder, or a stand-in that longhaul makes. */
export function standinBenchmark(
  key: string,
  { holds, makes, openOwn, openStandin }: DataSources,
): LoadgenBenchmark {
  return {
    rules: benchmarkRules(key),
    openDataSet: async (options) => {
      const { dataFolder, generated } = options;
      const standard = standardSetOf(key, dataFolder);
      if (standard !== undefined) return openStandin(generated ?? standard, options);
      const needs = `benchmark ${key} needs --data-dir FOLDER with ${holds} (see the README of the benchmark)`;
      if (dataFolder === undefined) {
        throw configInvalid(`${needs}, or --data-dir ${STAND_IN_WORD} for ${makes}`);
      }
      if (statIfThere(dataFolder)?.isDirectory() === true) {
        return openOwn(dataFolder, options);
      }
      throw dataSetError(`${dataFolder}: there is no such folder; ${needs}`);
    },
  };
}

/** @throws MlperfError `ERR_DATA_SET` naming the files that are not there. */
export function requireFiles(folder: string, files: readonly string[]): void {
  const missing = files.filter((file) => !existsSync(join(folder, file)));
  if (missing.length === 0) return;
  throw dataSetError(`${folder} lacks ${missing.join(' and ')} (see the README of the benchmark)`);
}

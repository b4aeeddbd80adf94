import assert from 'node:assert';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { configInvalid, dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { CHECKSUM_FILE } from '../../data-set/checksum-list.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../../data-set/data-set.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { scoreEach } from '../score-each.ts';

const rules = benchmarkRules('custom');

/** The user's own benchmark on the LoadGen node: files as payloads, and responses that are counted, not judged. */
export const benchmark: LoadgenBenchmark = {
  rules,
  openDataSet: async ({ dataFolder }) => {
    if (dataFolder === undefined) {
      throw configInvalid(
        'benchmark custom needs --data-dir FOLDER: each file in it is the payload of one sample',
      );
    }
    return openFileDataSet(dataFolder, rules.quality.metric);
  },
};

/**
 * A folder of which every file is the payload of one sample, as it is; sample 0 is the first by name (in the order
 * of Unicode's code units, which no locale changes). Hidden files and the list of checksums are left out.
 */
class FileDataSet implements DataSet {
  readonly name: string;
  readonly folder: string;
  readonly files: readonly string[];
  readonly #metric: string;

  constructor(folder: string, fileNames: readonly string[], metric: string) {
    this.name = basename(resolve(folder));
    this.folder = folder;
    this.files = fileNames;
    this.#metric = metric;
  }

  get totalSampleCount(): number {
    return this.files.length;
  }

  async readPayload(sampleIndex: number): Promise<Uint8Array> {
    const fileName = this.files[sampleIndex];
    assert(fileName !== undefined, `sample ${sampleIndex} of ${this.totalSampleCount}`);
    const path = join(this.folder, fileName);
    let payload: Uint8Array;
    try {
      payload = await readFile(path);
    } catch (error) {
      throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
    }
    if (payload.length === 0) {
      throw dataSetError(`${path} is empty; a sample has one byte at least`);
    }
    return payload;
  }

  /** Share of the samples that have a response of one byte or more; the first of a sample counts. */
  scoreAccuracy(entries: Iterable<AccuracyEntry>): AccuracyReport {
    const isRight = ({ response }: AccuracyEntry): boolean => response.length > 0;
    return { metric: this.#metric, ...scoreEach(entries, this.totalSampleCount, isRight) };
  }
}

/** @throws MlperfError `ERR_DATA_SET` where the folder cannot be read or has no file. */
async function openFileDataSet(folder: string, metric: string): Promise<DataSet> {
  const fileNames: string[] = [];
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory() && isSample(entry.name)) fileNames.push(entry.name);
    }
  } catch (error) {
    throw dataSetError(`${folder}: ${describeSystemError(error)}`, error);
  }
  if (fileNames.length === 0) {
    throw dataSetError(`${folder} has no files; each file in it is the payload of one sample`);
  }
  return new FileDataSet(folder, fileNames.sort(), metric);
}

function isSample(fileName: string): boolean {
  return !fileName.startsWith('.') && fileName !== CHECKSUM_FILE;
}

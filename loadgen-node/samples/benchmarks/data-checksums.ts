import { existsSync, writeFileSync } from 'node:fs';
import {
  configInvalid,
  dataSetError,
  outputError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { compareFiles, digestFiles, findList } from '../data-set/check-data-set.ts';
import { CHECKSUM_FILE, digestOfList, formatChecksumList } from '../data-set/checksum-list.ts';
import type { DataSet, PrepareProgress } from '../data-set/data-set.ts';
import { type DataRequest, generatedSetOf, isGeneratedData } from './generated-data.ts';
import { loadgenBenchmark } from './registry.ts';

/** Selects a data set. */
export interface DataValues extends DataRequest {
  readonly cacheDir: string | undefined;
}

/**
 * The checksum list of a data set, as text or written to a file.
 * @throws MlperfError `ERR_DATA_SET`, `ERR_CONFIG_INVALID`, `ERR_OUTPUT`
 */
export async function writeChecksums(
  values: DataValues & { readonly output: string | undefined },
  onProgress: PrepareProgress,
): Promise<VerbResult> {
  const { folder, files } = await openFiles(values, onProgress);
  const checksums = await digestFiles(folder, files, onProgress);
  const list = formatChecksumList(checksums);
  const digest = digestOfList(checksums);
  const { output } = values;
  const json = {
    folder,
    output: output ?? null,
    listSha256: digest,
    files: [...checksums].map(([path, sha256]) => ({ path, sha256 })),
  };
  if (output === undefined) return { text: list, json };
  try {
    writeFileSync(output, list);
  } catch (error) {
    throw outputError(`cannot write ${output}`, error);
  }
  return {
    text: `${output} lists ${checksums.size} files of ${folder}; the list has SHA-256 ${digest}\n`,
    json,
  };
}

/**
 * Compares a data set with its own or a given checksum list.
 * @throws MlperfError `ERR_DATA_SET` naming each file that differs, `ERR_CONFIG_INVALID`
 */
export async function verifyDataSet(
  values: DataValues & { readonly checksums: string | undefined },
  onProgress: PrepareProgress,
): Promise<VerbResult> {
  const { benchmark, dataDir, checksums } = values;
  const isFolder = dataDir !== undefined && !isGeneratedData(values) && existsSync(dataDir);
  const [opened] = await Promise.allSettled([openFiles(values, onProgress)]);
  // A broken data set may fail to open; the list reports what is wrong, file by file.
  if (opened.status === 'rejected' && !isFolder) throw opened.reason;
  const { folder, files } =
    opened.status === 'fulfilled' ? opened.value : { folder: dataDir as string, files: [] };
  const list = await findList(folder, checksums);
  if (list === undefined) {
    throw dataSetError(
      `${folder} has no ${CHECKSUM_FILE}: name a list with --checksums, or write one with "longhaul submission data checksums"`,
    );
  }
  await compareFiles(folder, list, files, onProgress);
  if (opened.status === 'rejected') throw opened.reason;
  const digest = digestOfList(list.checksums);
  const { totalSampleCount: sampleCount } = opened.value;
  const fileCount = list.checksums.size;
  const text =
    `${fileCount} files of ${folder} are as ${list.name} has them (SHA-256 of the list ${digest}): ` +
    `${sampleCount} samples of ${benchmark}\n`;
  const json = { folder, benchmark, list: list.name, listSha256: digest, fileCount, sampleCount };
  return { text, json };
}

type OpenedFiles = Required<Pick<DataSet, 'folder' | 'files' | 'totalSampleCount'>>;

async function openFiles(values: DataValues, onProgress: PrepareProgress): Promise<OpenedFiles> {
  const { name, folder, files, totalSampleCount } = await openDataSet(values, onProgress);
  if (files !== undefined) return { folder, files, totalSampleCount };
  throw configInvalid(`the samples of ${name} are generated: they have no files and no checksums`);
}

async function openDataSet(values: DataValues, onProgress: PrepareProgress): Promise<DataSet> {
  const { benchmark, dataDir, cacheDir } = values;
  const { openDataSet: open } = await loadgenBenchmark(benchmark);
  const cacheFolder = cacheDir ?? defaultCacheFolder();
  return open({
    dataFolder: dataDir,
    cacheFolder,
    generated: generatedSetOf(values),
    onProgress,
  });
}

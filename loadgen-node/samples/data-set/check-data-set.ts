import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_FILE, readManifestChecksums } from '../../../shared/base/cache/manifest.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { CHECKSUM_FILE, type Checksums, digestOfList, readChecksumList } from './checksum-list.ts';
import { compareFiles, differenceError, differs } from './compare-files.ts';
import type { DataSet, PrepareProgress } from './data-set.ts';
import { hashFiles } from './hash-files.ts';

/** What is known of a data set at the start of a run. */
export interface DataSetCheck {
  readonly name: string;
  /** Empty where the samples are made up in memory. */
  readonly folder: string;
  readonly sampleCount: number;
  readonly fileCount: number;
  /** Of all its files (checksum-list.ts); empty where there are none. Two runs with equal digests had equal data. */
  readonly digest: string;
  /** The list of checksums that every file was compared with; undefined: there was none. */
  readonly list: string | undefined;
}

/** A list and where it comes from. */
export interface NamedList {
  readonly name: string;
  readonly checksums: Checksums;
}

/**
 * Compares a data set with its list of checksums, untimed, before a run; without a list it is digested all
 * the same, so that two runs can be compared.
 * Rule: inference_rules v4.1, benchmarks: "The dataset must be unchanged at the start of each run."
 * @param listFile List that was asked for; undefined: `SHA256SUMS` or the manifest in the data set's folder.
 * @throws MlperfError `ERR_DATA_SET` naming the files that differ.
 */
export async function checkDataSet(
  dataSet: DataSet,
  listFile: string | undefined,
  onProgress: PrepareProgress,
): Promise<DataSetCheck> {
  const { name, folder, totalSampleCount: sampleCount, files = [] } = dataSet;
  const found = { name, folder, sampleCount, fileCount: files.length };
  if (files.length === 0) {
    if (listFile === undefined) return { ...found, digest: '', list: undefined };
    throw configInvalid(
      `a list of checksums (${listFile}), but the samples of ${name} are made up: they have no files`,
    );
  }
  const list = await findList(folder, listFile);
  if (list === undefined) {
    const { checksums, missing } = await hashFiles(folder, files, onProgress);
    if (missing.length > 0) {
      throw differenceError(folder, 'it was a moment ago', {
        missing,
        changed: [],
        additional: [],
      });
    }
    return { ...found, digest: digestOfList(checksums), list: undefined };
  }
  // What opening the data set has just compared need not be read twice.
  const isDone = dataSet.isManifestChecked === true && list.name === MANIFEST_FILE;
  const compared = isDone ? new Map<string, string>() : list.checksums;
  const { missing, changed } = await compareFiles(folder, compared, [], onProgress);
  const additional = files.filter((path) => !list.checksums.has(path));
  const differences = { missing, changed, additional };
  if (differs(differences)) throw differenceError(folder, list.name, differences);
  const own = new Map(files.map((path) => [path, list.checksums.get(path) as string]));
  return { ...found, digest: digestOfList(own), list: list.name };
}

/**
 * The list of checksums of the data set in a folder: the one that was asked for, `SHA256SUMS`, or the manifest of
 * what longhaul made itself; undefined where there is none.
 * @throws MlperfError `ERR_DATA_SET` when it cannot be read.
 */
export async function findList(
  folder: string,
  listFile: string | undefined,
): Promise<NamedList | undefined> {
  if (listFile !== undefined) {
    return { name: listFile, checksums: await readChecksumList(listFile) };
  }
  const path = join(folder, CHECKSUM_FILE);
  if (existsSync(path)) return { name: CHECKSUM_FILE, checksums: await readChecksumList(path) };
  const checksums = await readManifestChecksums(folder);
  return checksums === undefined ? undefined : { name: MANIFEST_FILE, checksums };
}

/** The data set's files for people; undefined where there are none. */
export function dataSetInWords(check: DataSetCheck): string | undefined {
  if (check.fileCount === 0) return undefined;
  const { folder, fileCount, digest, list } = check;
  const verdict = list === undefined ? 'compared with no list' : `all as in ${list}`;
  return `${fileCount} file${fileCount === 1 ? '' : 's'} in ${folder}, ${verdict}; SHA-256 of their list ${digest}`;
}

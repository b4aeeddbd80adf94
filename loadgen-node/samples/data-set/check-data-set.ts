import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import { at } from '../../../shared/base/at.ts';
import {
  hashFile,
  MANIFEST_FILE,
  readManifestChecksums,
} from '../../../shared/base/cache/manifest.ts';
import {
  configInvalid,
  dataSetError,
  errorCodeOf,
} from '../../../shared/base/errors/mlperf-error.ts';
import { NOWHERE } from '../../../shared/base/files/read-file.ts';
import { counted, firstOf } from '../../../shared/base/text.ts';
import { CHECKSUM_FILE, type Checksums, digestOfList, readChecksumList } from './checksum-list.ts';
import { type DataSet, type PrepareProgress, readingFile } from './data-set.ts';

/** Facts of a data set at the start of a run. */
export interface DataSetCheck {
  readonly name: string;
  /** Empty where the samples are generated in memory. */
  readonly folder: string;
  readonly sampleCount: number;
  readonly fileCount: number;
  /** Of all its files (checksum-list.ts); empty where there are none. Two runs with equal digests had equal data. */
  readonly digest: string;
  /** The list of checksums that every file was compared with; undefined: there was none. */
  readonly list: string | undefined;
}

/** A list and where it comes from. */
interface NamedList {
  readonly name: string;
  readonly checksums: Checksums;
}

/**
 * Compares a data set with its list of checksums, untimed, before a run; without a list it is digested all
 * the same, so that two runs can be compared.
 * Rule: inference_rules v4.1, benchmarks: "The dataset must be unchanged at the start of each run."
 * @param listFile List that was requested; undefined: `SHA256SUMS` or the manifest in the data set's folder.
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
      `a list of checksums (${listFile}), but the samples of ${name} are generated: they have no files`,
    );
  }
  const list = await findList(folder, listFile);
  if (list === undefined) {
    const checksums = await digestFiles(folder, files, onProgress);
    return { ...found, digest: digestOfList(checksums), list: undefined };
  }
  // Opening the data set has just compared these: they need not be read twice.
  const isDone = dataSet.isManifestChecked === true && list.name === MANIFEST_FILE;
  if (isDone) requireNoDifference(folder, list, files, {});
  else await compareFiles(folder, list, files, onProgress);
  const own = new Map(files.map((path) => [path, list.checksums.get(path) as string]));
  return { ...found, digest: digestOfList(own), list: list.name };
}

/**
 * The list of checksums of the data set in a folder: the one that was requested, `SHA256SUMS`, or the manifest of
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
  return `${counted(fileCount, 'file')} in ${folder}, ${verdict}; SHA-256 of their list ${digest}`;
}

/** Files of one kind that a message names; of more it tells the number. */
const NAMED_MAX = 20;

/** Files between two reports of progress. */
const PROGRESS_STEP = 100;

/**
 * Compares files with a list of checksums.
 * @param present Paths of the files that should be in the list, relative to `folder`.
 * @throws MlperfError `ERR_DATA_SET` naming each file that differs, or one that is there and cannot be read
 */
export async function compareFiles(
  folder: string,
  list: NamedList,
  present: readonly string[],
  onProgress: PrepareProgress,
): Promise<void> {
  const { checksums, missing } = await hashFiles(folder, [...list.checksums.keys()], onProgress);
  const isChanged = (path: string): boolean => checksums.get(path) !== list.checksums.get(path);
  requireNoDifference(folder, list, present, {
    missing,
    changed: [...checksums.keys()].filter(isChanged),
  });
}

function requireNoDifference(
  folder: string,
  { name, checksums }: NamedList,
  present: readonly string[],
  differences: Readonly<Record<string, readonly string[]>>,
): void {
  const additional = present.filter((path) => !checksums.has(path));
  const texts = Object.entries({ ...differences, 'not in the list': additional })
    .filter(([, paths]) => paths.length > 0)
    .map(([kind, paths]) => `${paths.length} ${kind} (${firstOf(paths, NAMED_MAX)})`);
  if (texts.length === 0) return;
  throw dataSetError(`${folder} is not as ${name} has it: ${texts.join('; ')}`);
}

/**
 * Digests files that were listed a moment ago.
 * @param paths Relative to `folder`, with forward slashes.
 * @throws MlperfError `ERR_DATA_SET` naming the files that cannot be read
 */
export async function digestFiles(
  folder: string,
  paths: readonly string[],
  onProgress: PrepareProgress,
): Promise<Checksums> {
  const { checksums, missing } = await hashFiles(folder, paths, onProgress);
  if (missing.length === 0) return checksums;
  const names = firstOf(missing, NAMED_MAX);
  throw dataSetError(
    `${folder}: ${missing.length} of its ${paths.length} files are missing: ${names}`,
  );
}

/** Digests several files at once. @returns The paths of files that are not there, too. */
async function hashFiles(
  folder: string,
  paths: readonly string[],
  onProgress: PrepareProgress,
): Promise<{ readonly checksums: Checksums; readonly missing: readonly string[] }> {
  const digests = new Map<string, string | undefined>();
  await forEachIndex(paths.length, FILES_AT_ONCE, async (i) => {
    const path = at(paths, i);
    digests.set(path, await hashIfThere(join(folder, path)));
    if (digests.size % PROGRESS_STEP === 0) {
      onProgress(digests.size / paths.length, `checking ${paths.length} files in ${folder}`);
    }
  });
  const checksums = new Map<string, string>();
  const missing: string[] = [];
  for (const path of paths) {
    const digest = digests.get(path);
    if (digest === undefined) missing.push(path);
    else checksums.set(path, digest);
  }
  return { checksums, missing };
}

function hashIfThere(path: string): Promise<string | undefined> {
  return readingFile(path, () =>
    hashFile(path).catch((error: unknown) => {
      if (NOWHERE.has(errorCodeOf(error))) return undefined;
      throw error;
    }),
  );
}

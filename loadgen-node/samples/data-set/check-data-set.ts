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
  /** Empty if samples are generated in memory. */
  readonly folder: string;
  readonly sampleCount: number;
  readonly fileCount: number;
  /**
   * Digest of all its files (checksum-list.ts); empty without files. Equal digests mean equal data.
   */
  readonly digest: string;
  /** The checksum list used for comparison; undefined without one. */
  readonly list: string | undefined;
}

/** A checksum list and its source. */
interface NamedList {
  readonly name: string;
  readonly checksums: Checksums;
}

/**
 * Compares a data set with its checksum list, untimed, before a run; without a list it is still
 * digested, so that two runs can be compared. Rule: inference_rules v4.1, benchmarks: "The dataset
 * must be unchanged at the start of each run."
 * @param listFile Requested list; undefined: `SHA256SUMS` or the manifest in the data set's
 *   folder.
 * @throws MlperfError `ERR_DATA_SET` listing the differing files.
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
  // Opening the data set has already compared these.
  const isDone = dataSet.isManifestChecked === true && list.name === MANIFEST_FILE;
  if (isDone) requireNoDifference(folder, list, files, {});
  else await compareFiles(folder, list, files, onProgress);
  const own = new Map(files.map((path) => [path, list.checksums.get(path) as string]));
  return { ...found, digest: digestOfList(own), list: list.name };
}

/**
 * Checksum list of a data set's folder: the requested one, `SHA256SUMS`, or the manifest of
 * generated data; undefined if there is none.
 * @throws MlperfError `ERR_DATA_SET` if it cannot be read.
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

/** Text on the data set's files; undefined without files. */
export function dataSetInWords(check: DataSetCheck): string | undefined {
  if (check.fileCount === 0) return undefined;
  const { folder, fileCount, digest, list } = check;
  const verdict = list === undefined ? 'compared with no list' : `all as in ${list}`;
  return `${counted(fileCount, 'file')} in ${folder}, ${verdict}; SHA-256 of their list ${digest}`;
}

/** At most this many files of one kind are named; the rest are counted. */
const NAMED_MAX = 20;

/** Files between two progress reports. */
const PROGRESS_STEP = 100;

/**
 * Compares files with a checksum list.
 * @param present Paths of files that must be in the list, relative to `folder`.
 * @throws MlperfError `ERR_DATA_SET` listing files that differ, and existing files that cannot be
 *   read
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
 * Digests files that were just listed.
 * @param paths Relative to `folder`, with forward slashes.
 * @throws MlperfError `ERR_DATA_SET` listing files that cannot be read
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

/** Digests several files concurrently. @returns Also the paths of missing files. */
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

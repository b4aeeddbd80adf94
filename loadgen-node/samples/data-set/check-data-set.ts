import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async/for-each-index.ts';
import { MANIFEST_FILE, readManifestChecksums } from '../../../shared/base/cache/manifest.ts';
import {
  configInvalid,
  dataSetError,
  type MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError, errorCodeOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { CHECKSUM_FILE, type Checksums, digestOfList, readChecksumList } from './checksum-list.ts';
import type { DataSet, PrepareProgress } from './data-set.ts';

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
interface NamedList {
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

/** Files of one kind that a message names; of more it tells the number. */
const NAMED_MAX = 20;

/** How the files of a folder differ from a list; paths in the list's order. */
interface FileDifferences {
  /** Listed, but not there. */
  readonly missing: readonly string[];
  /** Listed, with another checksum. */
  readonly changed: readonly string[];
  /** There, but not listed. */
  readonly additional: readonly string[];
}

/**
 * Compares files with a list of checksums.
 * @param present Paths of the files that should be in the list, relative to `folder`.
 * @throws MlperfError `ERR_DATA_SET` naming a file that is there and cannot be read.
 */
export async function compareFiles(
  folder: string,
  list: Checksums,
  present: readonly string[],
  onProgress: PrepareProgress,
): Promise<FileDifferences> {
  const { checksums, missing } = await hashFiles(folder, [...list.keys()], onProgress);
  const changed = [...checksums].filter(([path, sha256]) => sha256 !== list.get(path));
  return {
    missing,
    changed: changed.map(([path]) => path),
    additional: present.filter((path) => !list.has(path)),
  };
}

/** True when there is a difference. */
export function differs({ missing, changed, additional }: FileDifferences): boolean {
  return missing.length + changed.length + additional.length > 0;
}

/** Every difference by kind, each with the names of its files: one line. */
function describeDifferences({ missing, changed, additional }: FileDifferences): string {
  return [
    named('missing', missing),
    named('changed', changed),
    named('not in the list', additional),
  ]
    .filter((text) => text !== '')
    .join('; ');
}

/**
 * The error of a data set that is not what its list says.
 * @param listName What it was compared with.
 */
export function differenceError(
  folder: string,
  listName: string,
  differences: FileDifferences,
): MlperfError {
  const what = describeDifferences(differences);
  return dataSetError(`${folder} is not as ${listName} has it: ${what}`);
}

function named(kind: string, paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const rest = paths.length - NAMED_MAX;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `${paths.length} ${kind} (${paths.slice(0, NAMED_MAX).join(', ')}${more})`;
}

/** Bytes that are read at once: one read for most images. */
const READ_BYTES: number = 1024 * 1024;

/** Files between two reports of progress. */
const PROGRESS_STEP = 100;

/** What became of hashing a set of files. */
interface HashedFiles {
  /** SHA-256 in hexadecimal by path. */
  readonly checksums: ReadonlyMap<string, string>;
  /** Paths of files that are not there. */
  readonly missing: readonly string[];
}

/**
 * Digests files, several at once.
 * @param paths Relative to `folder`, with forward slashes.
 * @throws MlperfError `ERR_DATA_SET` naming a file that is there and cannot be read.
 */
export async function hashFiles(
  folder: string,
  paths: readonly string[],
  onProgress: PrepareProgress,
): Promise<HashedFiles> {
  const digests: (string | undefined)[] = new Array<undefined>(paths.length).fill(undefined);
  const buffers = Array.from({ length: FILES_AT_ONCE }, () => Buffer.allocUnsafe(READ_BYTES));
  let doneCount = 0;
  await forEachIndex(paths.length, FILES_AT_ONCE, async (i) => {
    const buffer = buffers.pop() as Buffer<ArrayBuffer>;
    digests[i] = await hashFile(join(folder, paths[i] as string), buffer);
    buffers.push(buffer);
    doneCount += 1;
    if (doneCount % PROGRESS_STEP === 0) {
      onProgress(doneCount / paths.length, `checking ${paths.length} files in ${folder}`);
    }
  });
  const checksums = new Map<string, string>();
  const missing: string[] = [];
  for (const [i, path] of paths.entries()) {
    const digest = digests[i];
    if (digest === undefined) missing.push(path);
    else checksums.set(path, digest);
  }
  return { checksums, missing };
}

/** @returns undefined when there is no such file. */
async function hashFile(path: string, buffer: Buffer<ArrayBuffer>): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    const file = await open(path);
    try {
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
  }
  return hash.digest('hex');
}

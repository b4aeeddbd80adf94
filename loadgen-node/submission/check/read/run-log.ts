import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { withReason } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  type DetailRecord,
  isNumber,
  numberOf,
  type ReadDetailLog,
  readDetailLog,
} from '../../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { TreeListing } from './tree-listing.ts';

/** Most record characters of a cached log; logs of whole runs have fewer. */
const KEPT_CHARACTERS_MAX = 2 ** 20;

/**
 * A caching reader of a tree's detail logs, by path in the tree; very large logs are not cached.
 * Its promises reject with MlperfError `ERR_OUTPUT` if a log cannot be read.
 */
export function detailLogs(listing: TreeListing, readLog = readDetailLog) {
  const kept = new Map<string, Promise<ReadDetailLog>>();
  return (file: string): Promise<ReadDetailLog> => {
    const log = kept.get(file) ?? readLog(listing.pathOf(file));
    kept.set(file, log);
    const drop = ({ recordCharacters }: ReadDetailLog) => {
      if (recordCharacters > KEPT_CHARACTERS_MAX) kept.delete(file);
    };
    // Each caller that awaits the log gets its error.
    log.then(drop, () => {});
    return log;
  };
}

/** A finding about a record, with the record's line. */
export interface SeenRecord {
  readonly file: string;
  readonly line: number | undefined;
  readonly text: string;
}

/**
 * A detail log of a tree. Checks of a missing record pass: `record-missing` reports it.
 * @param file Relative to the root of the tree.
 */
export function runLog(file: string, detail: ReadDetailLog): RunLog {
  const record = (key: string) => detail.records.get(key);
  const value = (key: string) => record(key)?.value;
  /** A finding about a record, with its line if it exists. */
  const at = (key: string, text: string): SeenRecord => {
    const { line, isOfSummary } = record(key) ?? {};
    const summary = posix.join(posix.dirname(file), RUN_FILES.summary);
    return { file: isOfSummary ? summary : file, line, text };
  };
  /** Checks the value of a record. @param check Returns the problem of a wrong value. */
  const wrong = (key: string, check: (value: unknown) => string | false) => {
    const text = record(key) !== undefined && check(value(key));
    return text !== false && at(key, text);
  };
  return {
    file,
    detail,
    record,
    value,
    at,
    wrong,
    ownValues: (key) => detail.ownRecords.flatMap((one) => (one.key === key ? [one.value] : [])),
    keys: () => detail.records.keys(),
    number: (key) => numberOf({ detail }, key),
    wrongNumber: (key, check) => wrong(key, (one) => isNumber(one) && check(Number(one))),
  };
}

/** The detail log of a run, with its values as findings. */
export interface RunLog {
  readonly file: string;
  readonly detail: ReadDetailLog;
  readonly record: (key: string) => DetailRecord | undefined;
  readonly value: (key: string) => unknown;
  readonly at: (key: string, text: string) => SeenRecord;
  readonly wrong: (key: string, check: (value: unknown) => string | false) => false | SeenRecord;
  /**
   * All values of longhaul's own record with this key: a run over several nodes has one per node.
   */
  readonly ownValues: (key: string) => unknown[];
  readonly keys: () => Iterable<string>;
  /** Undefined if the record is missing or not a number. */
  readonly number: (key: string) => number | undefined;
  /** Checks the number of a record. @param check Returns the problem of a wrong number. */
  readonly wrongNumber: (
    key: string,
    check: (value: number) => string | false,
  ) => false | SeenRecord;
}

/** Accuracy logs before truncation. */
export interface OriginalLogs {
  readonly folder: string;
  /** Possible originals of a log; empty if there are none. @param path Path in the tree. */
  readonly of: (path: string) => string[];
}

/**
 * Finds accuracy logs as they were before truncation.
 * @param folder The backup folder of `longhaul submission truncate`, one of its numbered
 *   subfolders, or any folder with the tree's layout.
 * @throws MlperfError `ERR_CONFIG_FILE` if the folder does not exist.
 */
export function originalLogs(folder: string): OriginalLogs {
  const names = withReason(
    `cannot read the originals in ${folder}`,
    () => readdirSync(folder),
    'ERR_CONFIG_FILE',
  );
  const parts = ['', ...names.filter((name) => /^\d+$/.test(name))];
  return {
    folder,
    of: (path) => parts.map((part) => join(folder, part, path)).filter(existsSync),
  };
}

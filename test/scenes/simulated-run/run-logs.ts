import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ReadDetailLog,
  readDetailLog as readLog,
} from '../../../loadgen-node/loadgen/logs/read/detail-log.ts';

/** A line of the detail log. */
export interface DetailLine {
  readonly key: string;
  readonly value: unknown;
  readonly metadata: { readonly is_error: boolean; readonly is_warning: boolean };
}

/** One record of the accuracy log. */
interface AccuracyRecord {
  readonly seq_id: number;
  readonly qsl_idx: number;
  readonly data: string;
  readonly token_data?: string;
  readonly token_count?: number;
}

/** Reads a detail log back; every line must be JSON behind its mark. */
export function readDetailLog(path: string): DetailLine[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    if (!line.startsWith(':::MLLOG ')) throw new Error(`no mark: ${line}`);
    return JSON.parse(line.slice(':::MLLOG '.length)) as DetailLine;
  });
}

/** Texts of the error lines of a detail log. */
export function errorTexts(path: string): string[] {
  return readDetailLog(path)
    .filter((line) => line.metadata.is_error)
    .map((line) => String(line.value));
}

/** Reads the three logs of a run as the official tools do; throws when one is not whole. */
export function readRunLogs(output: string) {
  const read = (name: string): string => readFileSync(join(output, name), 'utf8');
  const detail = join(output, 'mlperf_log_detail.txt');
  return {
    get summary(): string {
      return read('mlperf_log_summary.txt');
    },
    get accuracy(): AccuracyRecord[] {
      return JSON.parse(read('mlperf_log_accuracy.json')) as AccuracyRecord[];
    },
    /** Value of the first line with this key. */
    value: (key: string): unknown => readDetailLog(detail).find((line) => line.key === key)?.value,
    /** Texts of all lines that are errors. */
    get errors(): string[] {
      return errorTexts(detail);
    },
  };
}

/**
 * A reader of detail logs for trees in which one file at a time is changed: a file that stayed as
 * it was is read once.
 */
export function cachedLogReader(): (path: string) => Promise<ReadDetailLog> {
  const known = new Map<string, Promise<ReadDetailLog>>();
  return (path) => {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    const key = `${ino} ${size} ${mtimeNs}`;
    const log = known.get(key) ?? readLog(path);
    known.set(key, log);
    // A copy of the file has a path of its own.
    return log.then((one) => ({ ...one, path }));
  };
}

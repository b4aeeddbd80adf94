import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One line of the detail log. */
interface DetailEntry {
  readonly key: string;
  readonly value: unknown;
  readonly metadata: { readonly is_error: boolean };
}

/** One record of the accuracy log. */
interface AccuracyRecord {
  readonly seq_id: number;
  readonly qsl_idx: number;
  readonly data: string;
  readonly token_data?: string;
  readonly token_count?: number;
}

/** Reads the three logs of a run as the official tools do; throws when one is not whole. */
export function readRunLogs(output: string) {
  const read = (name: string): string => readFileSync(join(output, name), 'utf8');
  const detail = (): DetailEntry[] =>
    read('mlperf_log_detail.txt')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line.replace(/^:::MLLOG /, '')) as DetailEntry);
  return {
    get summary(): string {
      return read('mlperf_log_summary.txt');
    },
    get accuracy(): AccuracyRecord[] {
      return JSON.parse(read('mlperf_log_accuracy.json')) as AccuracyRecord[];
    },
    /** Value of the first line with this key. */
    value: (key: string): unknown => detail().find((entry) => entry.key === key)?.value,
    /** Texts of all lines that are errors. */
    get errors(): unknown[] {
      return detail()
        .filter((entry) => entry.metadata.is_error)
        .map((entry) => entry.value);
    },
  };
}

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { firstOf } from '../../../../shared/base/text.ts';

/** Names of LoadGen's files, and of those that longhaul puts beside them. */
export const RUN_FILES = {
  detail: 'mlperf_log_detail.txt',
  summary: 'mlperf_log_summary.txt',
  accuracy: 'mlperf_log_accuracy.json',
  /** Line of the benchmark's official accuracy script. */
  accuracyText: 'accuracy.txt',
  /** Evidence of the Network division's rules; absent in a run of another LoadGen. */
  audit: 'network_audit.json',
  /** Settings of `longhaul run`; absent in a run of another LoadGen. */
  record: 'longhaul_run.yaml',
  /** The records of every sample; absent with `--records none`, and in a run of another LoadGen, as are the two below. */
  records: 'longhaul_records.arrow',
  /** Names the files with records, where several LoadGen hosts made them. */
  recordSet: 'longhaul_records.json',
  /** The result for programs. */
  runSummary: 'longhaul_summary.json',
  /** The result for people. */
  page: 'longhaul_report.html',
} as const;

/** Log files of the engine that followed the C++ LoadGen begin so, in place of `mlperf_log_`. */
export const OWN_LOG_PREFIX = 'longhaul_log_';

/** Paths of the files of one run. */
export type RunFolder = Readonly<Record<keyof typeof RUN_FILES | 'folder', string>>;

/**
 * A folder with the logs of one run, of longhaul or of the C++ LoadGen.
 * @throws MlperfError `ERR_CONFIG_FILE` when it is no folder, or has no detail or summary log.
 */
export function openRunFolder(folder: string): RunFolder {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new MlperfError('ERR_CONFIG_FILE', `${folder} is no folder with the logs of a run`);
  }
  for (const name of [RUN_FILES.detail, RUN_FILES.summary]) {
    if (existsSync(join(folder, name))) continue;
    const text = `${folder} has no ${name}: it is no run's folder${runsBelow(folder)}`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  }
  const paths = Object.entries(RUN_FILES).map(([key, name]) => [key, join(folder, name)]);
  return { folder, ...Object.fromEntries(paths) } as RunFolder;
}

/** Folders of runs that are named where somebody named the folder above. */
const NAMED_RUNS = 3;

function runsBelow(folder: string): string {
  const runs = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .filter((below) =>
      [RUN_FILES.detail, RUN_FILES.runSummary].some((name) => existsSync(join(below, name))),
    )
    .sort();
  return runs.length === 0 ? '' : `; name one in it: ${firstOf(runs, NAMED_RUNS)}`;
}

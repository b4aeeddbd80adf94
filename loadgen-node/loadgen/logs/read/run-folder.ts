import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { firstOf } from '../../../../shared/base/text.ts';

/** Names of LoadGen's files, and of the files that longhaul adds. */
export const RUN_FILES = {
  detail: 'mlperf_log_detail.txt',
  summary: 'mlperf_log_summary.txt',
  accuracy: 'mlperf_log_accuracy.json',
  /** Output line of the benchmark's official accuracy script. */
  accuracyText: 'accuracy.txt',
  /** Evidence for the Network division's rules; absent in a run of another LoadGen. */
  audit: 'network_audit.json',
  /** Settings of `longhaul run`; absent in a run of another LoadGen. */
  record: 'longhaul_run.yaml',
  /**
   * Records of every sample; absent with `--records none` and in a run of another LoadGen, like the
   * next two.
   */
  records: 'longhaul_records.arrow',
  /** List of the files with records, if several LoadGen hosts wrote them. */
  recordSet: 'longhaul_records.json',
  /** The result in machine-readable form. */
  runSummary: 'longhaul_summary.json',
  /** The result as a page for people. */
  page: 'longhaul_report.html',
} as const;

/**
 * Prefix of the logs of longhaul's engine while it followed the C++ LoadGen, in place of
 * `mlperf_log_`.
 */
export const OWN_LOG_PREFIX = 'longhaul_log_';

/** Paths of the files of one run. */
export type RunFolder = Readonly<Record<keyof typeof RUN_FILES | 'folder', string>>;

/**
 * Opens a folder with the logs of one run, of longhaul or of the C++ LoadGen.
 * @throws MlperfError `ERR_CONFIG_FILE` if it is not a folder, or has no detail or summary log.
 */
export function openRunFolder(folder: string): RunFolder {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new MlperfError('ERR_CONFIG_FILE', `${folder} is not a folder with the logs of a run`);
  }
  for (const name of [RUN_FILES.detail, RUN_FILES.summary]) {
    if (existsSync(join(folder, name))) continue;
    const text = `${folder} has no ${name}: it is not a run's folder${runsBelow(folder)}`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  }
  const paths = Object.entries(RUN_FILES).map(([key, name]) => [key, join(folder, name)]);
  return { folder, ...Object.fromEntries(paths) } as RunFolder;
}

/** Run folders listed in the message if the parent folder was given instead. */
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

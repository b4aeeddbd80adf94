import {
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  describeSystemError,
  errorCodeOf,
  MlperfError,
  outputError,
  withReason,
} from '../../../shared/base/errors/mlperf-error.ts';
import { statIfThere } from '../../../shared/base/files/read-file.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { CURVE_FILES, CURVE_PICTURES } from '../../present/curve/load-point.ts';
import type { RunHost } from '../host/host.ts';

/** Subfolder of a run with the compliance tests that were compared with it. */
export const COMPLIANCE_FOLDER = 'compliance';

/** Names of the files that `run`, `find-peak`, `curve`, `sweep` and `efficiency` write. */
const RESULT_FILES: ReadonlySet<string> = new Set([
  ...Object.values(RUN_FILES),
  ...['longhaul_peak.json', 'longhaul_sweep.json', 'longhaul_sweep.html'],
  ...['longhaul_efficiency.json', 'longhaul_curve.json', ...Object.values(CURVE_FILES)],
  ...Object.values(CURVE_PICTURES),
]);
/**
 * LoadGen's logs, which may have a date in their names, and the logs that longhaul writes beside
 * those of the C++ LoadGen.
 */
const LOG = /^(?:mlperf|longhaul)_log_.*\.(?:txt|json)$/;
/**
 * Folders that these verbs create: repeated runs, runs of a search, cells of a sweep
 * (`5ms_100mbit_0.1pct`).
 */
const RESULT_FOLDER =
  /^(?:(?:run_|confirm-|probe-)\d+|\.probe|[\d.]+[um]s_(?:unlimited|[\d.]+[gmk]bit)_[\d.]+pct)$/;

/**
 * Refuses a folder that already holds a result, or that is not writable, before any time is spent
 * on the new one.
 * @param output Folder that a verb will write to; it may not exist yet.
 * @param isForced True: the earlier result will be replaced ({@link replaceEarlierRun}).
 * @param canResume True for a search or a sweep that `--resume` can continue.
 * @throws MlperfError `ERR_OUTPUT`, also if the path is a file
 */
export function refuseUsedOutput(output: string, isForced: boolean, canResume = false): void {
  const [first] = resultsIn(output);
  if (first === undefined || isForced) {
    requireWritable(output);
    return;
  }
  const goOn = canResume ? '--resume continues it, ' : '';
  throw new MlperfError(
    'ERR_OUTPUT',
    `--output ${output} holds an earlier result (${first}): ${goOn}--force replaces it, another --output keeps it`,
  );
}

/**
 * Tests that the output folder, or its nearest existing parent, is writable, by creating and
 * removing a folder.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function requireWritable(output: string): void {
  const folder = nearestFolder(output);
  try {
    rmdirSync(mkdtempSync(join(folder, '.longhaul-')));
  } catch (error) {
    throw outputError(`--output ${output} cannot be written (${folder})`, error);
  }
}

/** The folder at a path, or its nearest existing parent. */
export function nearestFolder(path: string): string {
  let folder = resolve(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return statSync(folder).isDirectory() ? folder : dirname(folder);
}

/**
 * Removes the files of an earlier run or search, so that they do not mix with those of the next
 * one, however that ends. Compliance tests compared with it are moved aside. Other files stay.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function replaceEarlierRun(output: string, host: Pick<RunHost, 'report'>): void {
  const names = resultsIn(output);
  if (names.length === 0) return;
  host.report(`replacing the earlier result in ${output}`);
  for (const name of names) {
    const path = join(output, name);
    withReason(`cannot remove ${path} of an earlier run`, () =>
      rmSync(path, { recursive: true, force: true }),
    );
  }
  const tests = join(output, COMPLIANCE_FOLDER);
  if (!existsSync(tests)) return;
  const aside = unusedName(`${tests}-of-earlier-run`);
  withReason(`cannot rename ${tests}`, () => renameSync(tests, aside));
  host.report(`its compliance tests are in ${aside} now: they do not apply to the new run`);
}

/** Bytes of an earlier run's files, which replacing it frees. */
export function earlierResultBytes(output: string): number {
  const sizes = resultsIn(output).map((name) => {
    const stat = statIfThere(join(output, name));
    return stat?.isFile() ? stat.size : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Names of the entries written by longhaul's verbs. */
function resultsIn(output: string): string[] {
  let entries: string[];
  try {
    entries = readdirSync(output);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    const why =
      errorCodeOf(error) === 'ENOTDIR'
        ? ' is a file; a folder is needed'
        : `: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_OUTPUT', `--output ${output}${why}`, { cause: error });
  }
  return entries.filter(
    (name) => RESULT_FILES.has(name) || LOG.test(name) || RESULT_FOLDER.test(name),
  );
}

function unusedName(path: string): string {
  let name = path;
  for (let i = 2; existsSync(name); i += 1) name = `${path}-${i}`;
  return name;
}

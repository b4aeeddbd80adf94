import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import type { SubmissionModel } from '../../../../shared/rules/rows/model-row.ts';
import {
  numberOf,
  type ReadDetailLog,
  readDetailLog,
  recordOf,
} from '../../../loadgen/logs/read/detail-log.ts';
import { openRunFolder, RUN_FILES, type RunFolder } from '../../../loadgen/logs/read/run-folder.ts';
import { type NetworkAudit, readAudit } from '../../../observe/network-audit.ts';
import type { SubmissionDivision } from '../../rules/submission-rounds.ts';
import type { Problems, ResultEntry } from '../config/read-submission-config.ts';

/**
 * Reads everything available of a run; the logs are streamed.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`, `ERR_OUTPUT` if it is not a run's
 *   folder, or damaged.
 */
export async function readSubmittedRun(folder: string): Promise<SubmittedRun> {
  const files = openRunFolder(folder);
  return {
    files,
    detail: await readDetailLog(files.detail),
    audit: existsSync(files.audit) ? readAudit(folder) : undefined,
    settings: existsSync(files.record) ? readRecord(files.record) : undefined,
  };
}

/**
 * Run folders behind one folder of the configuration: itself, or its subfolders run_1, run_2, ...,
 * as for Server of round v0.5.
 */
export function runFolders(folder: string): string[] {
  if (existsSync(join(folder, RUN_FILES.detail)) || !existsSync(join(folder, 'run_1'))) {
    return [folder];
  }
  const names = readdirSync(folder).filter((name) => /^run_[1-9]\d*$/.test(name));
  return names
    .sort((a, b) => Number(a.slice(4)) - Number(b.slice(4)))
    .map((name) => join(folder, name));
}

/** Files of one run, its detail log, and evidence that only longhaul writes. */
export interface SubmittedRun {
  readonly files: RunFolder;
  readonly detail: ReadDetailLog;
  /** Undefined for a run of another LoadGen; so is the next. */
  readonly audit: NetworkAudit | undefined;
  /** Content of its longhaul_run.yaml. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
}

function readRecord(path: string): Readonly<Record<string, unknown>> {
  const file = parse(readFileSync(path, 'utf8')) as { run?: Record<string, unknown> | null } | null;
  return file?.run ?? {};
}

const TIMED: readonly string[] = ['Server', 'SingleStream', 'MultiStream'];

/**
 * Keys that submitters set; mlperf.conf has those fixed by the round. A row: key, detail log record
 * of its effective value, scenarios in which LoadGen reads it (default: all), unit factor from
 * record to file (ns to ms, fraction to percent).
 */
const ROWS: readonly (readonly [
  key: string,
  record: string,
  scenarios?: readonly string[],
  factor?: number,
])[] = [
  ['target_qps', 'effective_target_qps', ['Server', 'Offline']],
  ['target_latency', 'effective_target_latency_ns', TIMED, 1e-6],
  ['target_latency_percentile', 'effective_target_latency_percentile', TIMED, 100],
  // v4.1's LoadGen reads the two bounds only from a file that also sets the flag.
  ['use_token_latencies', 'requested_use_token_latencies'],
  ['ttft_latency', 'requested_server_ttft_latency', ['Server'], 1e-6],
  ['tpot_latency', 'requested_server_tpot_latency', ['Server'], 1e-6],
  ['samples_per_query', 'effective_samples_per_query', ['MultiStream']],
  ['min_duration', 'effective_min_duration_ms'],
  ['max_duration', 'effective_max_duration_ms'],
  // The effective value is 1 in Offline, whose samples are one query.
  ['min_query_count', 'requested_min_query_count'],
  ['max_query_count', 'effective_max_query_count'],
  ['performance_sample_count_override', 'effective_performance_sample_count'],
  ['sample_concatenate_permutation', 'effective_sample_concatenate_permutation'],
];

/**
 * user.conf of a run: the run's own file, or one made from its effective settings. Except for
 * comments, no line has a second "=", and no key a fourth part: an official checker splits them
 * like this.
 */
export function userConfOf(run: SubmittedRun): string {
  return givenUserConf(run) ?? madeUserConf(run);
}

function givenUserConf({ settings, files }: SubmittedRun): string | undefined {
  const said = settings?.['userConf'];
  if (typeof said !== 'string') return undefined;
  // The path is relative to where the run was started; a file moved beside the logs is found as
  // well.
  const candidates = isAbsolute(said) ? [said] : [said, join(files.folder, said)];
  candidates.push(join(dirname(files.detail), 'user.conf'));
  const found = candidates.find((path) => existsSync(path));
  return found === undefined ? undefined : readFileSync(found, 'utf8');
}

function madeUserConf(run: SubmittedRun): string {
  const scenario = String(recordOf(run, 'effective_scenario'));
  const lines = ROWS.flatMap(([key, record, scenarios, factor = 1]) => {
    if (scenarios !== undefined && !scenarios.includes(scenario)) return [];
    const value = recordOf(run, record);
    const number = typeof value === 'boolean' ? Number(value) : numberOf(run, record);
    // LoadGen writes 0 for "not set".
    if (number === undefined || number === 0) return [];
    // Without rounding noise, and without an exponent.
    const rounded = Number((number * factor).toPrecision(12));
    const text = Number.isInteger(rounded) ? rounded.toFixed(0) : String(rounded);
    return [`*.${scenario}.${key} = ${text}\n`];
  });
  return (
    `# user.conf of this run, made by longhaul ${packageVersion()} from the settings in its detail log.\n` +
    `# Times are in ms, percentiles in percent.\n${lines.join('')}`
  );
}

/** True for results only in the open division. */
export function isOpenOnly(divisions: readonly SubmissionDivision[]): boolean {
  return divisions.every((division) => division === 'open');
}

/**
 * Checks a run against its result, using only longhaul's own record; the check of the tree reads
 * the logs.
 */
export function checkRun(
  run: SubmittedRun,
  { model, divisions }: { model: SubmissionModel | undefined; divisions: ResultEntry['divisions'] },
  problems: Problems,
): void {
  const benchmark = run.audit?.run.benchmark ?? run.settings?.['benchmark'];
  if (model !== undefined && typeof benchmark === 'string' && benchmark !== model.benchmark) {
    const text = `the run is of the benchmark ${benchmark}, not of ${model.benchmark}, says ${run.files.folder}`;
    // In open, a model of another benchmark may replace the round's.
    if (isOpenOnly(divisions)) problems.warn(text);
    else problems.error(text);
  }
  if (run.audit?.run.division === 'open' && !isOpenOnly(divisions)) {
    problems.error('the run was made with --division open: it can be a result of open only');
  }
}
